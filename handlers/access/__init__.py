"""Who acts, and what they may do."""
