"""Webhooks: changes of records are sent to other systems."""
