"""Tradewind beside its peers under the same load, and what single features cost."""
