"""Dictionaries, settings, the operation log, data reset."""
