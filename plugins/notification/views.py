"""How the console shows the inbox."""

from plugins.api import View
from plugins.notification.records import MESSAGES

VIEWS = (View(MESSAGES, columns=("title", "body", "created_at", "unread")),)
