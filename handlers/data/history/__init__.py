"""Who changed what, and how it is undone."""
