"""Stock and its ledger, transfers and counts."""
