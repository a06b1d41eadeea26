"""What operators see and run: metrics, processes, jobs, migrations, logs, backups."""
