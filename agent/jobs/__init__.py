"""Many questions, later, again: jobs, schedules and monitors on DBOS, over `research`."""
