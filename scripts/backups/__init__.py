"""Backups: one file with all documents of one moment and the stored files, and the way back."""
