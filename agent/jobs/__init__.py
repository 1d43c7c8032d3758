"""Jobs over `research`: a queue with workers, schedules, monitors and batches, on DBOS."""
