"""The dictionaries of the plugin."""

from plugins.api import Dictionary, Message
from plugins.api.records import Item
from plugins.notification.messages import KINDS

DICTIONARIES = (
    Dictionary(
        "notification_kind",
        Message("消息类型", "Notification kind"),
        tuple(Item(kind, label, color) for kind, (label, color) in KINDS.items()),
    ),
)
