"""What plugins that require cms may import. Its events are heard by their names."""

from plugins.cms.records import ARTICLES, CATEGORIES

__all__ = ["ARTICLES", "CATEGORIES"]
