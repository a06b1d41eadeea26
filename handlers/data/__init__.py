"""Collections, their row rules, and the one door to the data."""
