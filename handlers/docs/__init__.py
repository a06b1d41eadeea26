"""How the service describes itself: OpenAPI, the docs page, health, metrics and constants."""
