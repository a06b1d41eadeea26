"""What this deployment is connected to: settings, database, logs. Imports nothing else of this project."""
