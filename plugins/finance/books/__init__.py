"""Accounts, vouchers and periods."""
