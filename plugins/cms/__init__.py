"""Content: articles, their categories, and the public site's configuration."""
