"""Lists: filters, searches, pages and series."""
