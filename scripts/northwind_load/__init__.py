"""Loads the Northwind files into a service through its HTTP API: `scripts/northwind`."""
