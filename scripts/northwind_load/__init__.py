"""The Northwind files brought in through the HTTP API: `scripts/northwind`."""
