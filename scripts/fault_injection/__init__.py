"""Fault experiments on one machine: what breaks, what clients notice, and what the database holds afterwards."""
