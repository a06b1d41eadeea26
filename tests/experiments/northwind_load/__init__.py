"""Loads the Northwind files into a service through its HTTP API: `python -m tests.experiments.northwind_load`."""
