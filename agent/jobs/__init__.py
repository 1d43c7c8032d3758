"""Jobs: a queue with workers, schedules, monitors and batches, built on DBOS."""
