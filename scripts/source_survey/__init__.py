"""The layout and the wording of the source, in figures."""
