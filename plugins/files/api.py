"""What plugins that require files may import. What is attached to records is asked through the port `Attachments`."""

from plugins.files.records import ATTACHMENTS, OBJECTS

__all__ = ["ATTACHMENTS", "OBJECTS"]
