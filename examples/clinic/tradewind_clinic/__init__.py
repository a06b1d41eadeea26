"""A clinic: a plugin of Tradewind."""
