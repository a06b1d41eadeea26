"""The audit of the ledgers."""
