"""What `scripts/doctor` and `scripts/verify-ledgers` look at."""
