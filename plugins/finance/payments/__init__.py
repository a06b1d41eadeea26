"""Payments, and what they settle."""
