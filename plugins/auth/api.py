"""What plugins that require auth may import."""

from plugins.auth.records import SESSIONS

__all__ = ["SESSIONS"]
