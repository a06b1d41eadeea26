"""Which rows a person sees."""
