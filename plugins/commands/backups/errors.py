"""The errors of backups."""


class BackupError(Exception):
    """A backup cannot be made or restored; the message is one sentence for the person at the terminal."""
