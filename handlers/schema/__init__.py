"""Shapes: what a field is, how it is checked, converted and shown, and the errors that say what is wrong."""
