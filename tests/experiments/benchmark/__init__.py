"""Tradewind beside its peers under the same load, and the cost of single features."""
