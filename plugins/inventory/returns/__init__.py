"""Returns of goods, and reversals."""
