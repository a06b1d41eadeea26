"""Fault experiments on one machine: what fails, what clients notice, and what the database holds afterwards."""
