"""The environment of a deployment: settings, database, logs. Imports no other package of this project."""
