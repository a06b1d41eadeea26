"""What plugins that require auth may import."""

from plugins.auth.records import SESSIONS
from plugins.auth.wecom_client import WecomUnavailable
from plugins.auth.wecom_messages import NoSuchMember, WecomMessages

__all__ = ["SESSIONS", "NoSuchMember", "WecomMessages", "WecomUnavailable"]
