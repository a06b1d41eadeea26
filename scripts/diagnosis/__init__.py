"""The checks of `scripts/doctor` and `scripts/verify-ledgers`."""
