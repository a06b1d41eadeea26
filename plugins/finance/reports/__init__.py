"""Statements, ageing and the dunning list."""
