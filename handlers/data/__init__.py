"""Collections, the rules for their rows, and the stores through which all data is read and written."""
