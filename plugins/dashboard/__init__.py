"""Live figures over all business modules."""
