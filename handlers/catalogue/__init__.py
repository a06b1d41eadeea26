"""What plugins declare, and what follows from the declarations as they are now."""
