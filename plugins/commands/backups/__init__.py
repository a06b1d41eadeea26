"""Backups: one file with all documents as of one moment and the stored files, and restoring it."""
