"""What processes and transactions agree on: changes, caches, locks."""
