"""How the source is laid out and said, in figures."""
