"""The plugin notification: an inbox for each user, and a WebSocket."""

from plugins.api import Message, Plugin
from plugins.notification import demo, live, notifications
from plugins.notification.dictionaries import DICTIONARIES
from plugins.notification.lifespan import LISTENERS, start
from plugins.notification.menus import MENUS, PERMISSIONS
from plugins.notification.records import MESSAGES, PROGRESS, SENT, SIGNALS
from plugins.notification.settings import NotificationSettings
from plugins.notification.views import VIEWS

plugin = Plugin(
    name="notification",
    title=Message("消息通知", "Notifications"),
    requires=("rbac", "auth"),
    settings=NotificationSettings,
    start=start,
    demo=demo.load,
    collections=(MESSAGES, SIGNALS, SENT, PROGRESS),
    routes=(*notifications.ROUTES, *live.ROUTES),
    menus=MENUS,
    listens=LISTENERS,
    permissions=PERMISSIONS,
    dictionaries=DICTIONARIES,
    views=VIEWS,
)
