"""What the service says of itself: OpenAPI, the docs page, health, metrics and constants."""
