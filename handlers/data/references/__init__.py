"""References between records, and what deletions do to them."""
