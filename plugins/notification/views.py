"""How the console shows the inbox, announcements, and what was sent."""

from plugins.api import View
from plugins.notification.announcement_records import ANNOUNCEMENTS
from plugins.notification.channel_records import DELIVERIES, TEMPLATES
from plugins.notification.records import MESSAGES

_LONG = {"type": "textarea", "minRows": 6}
VIEWS = (
    View(MESSAGES, columns=("title", "body", "created_at", "unread")),
    View(
        ANNOUNCEMENTS,
        columns=("title", "status", "publish_at", "expires_at", "confirm", "recipients", "published_at"),
        widgets={"content": _LONG},
    ),
    View(DELIVERIES, columns=("user_id", "kind", "channel", "state", "rule", "attempts", "answer", "created_at")),
    View(TEMPLATES, columns=("kind", "language", "subject"), widgets={"text": _LONG, "html": _LONG}),
)
