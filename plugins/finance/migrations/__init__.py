"""Open items of older databases."""
