"""Live figures over all business modules (SPEC 4.6, CONTRACT 9)."""
