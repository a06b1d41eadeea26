"""The plugin notification: an inbox for each user, and a WebSocket."""

from plugins.api import Job, Message, Plugin, routes_of
from plugins.api.ports import Passes
from plugins.api.records import Holding
from plugins.notification import (
    announcements,
    deliveries,
    demo,
    live,
    mail_templates,
    notifications,
    preferences,
    publishing,
)
from plugins.notification.announcement_records import ANNOUNCEMENTS, RECEIPTS
from plugins.notification.channel_records import ADDRESSES, DELIVERIES, PREFERENCES, TEMPLATES
from plugins.notification.dictionaries import DICTIONARIES
from plugins.notification.lifespan import LISTENERS, send_waiting, start
from plugins.notification.menus import MENUS, PERMISSIONS
from plugins.notification.records import MESSAGES, PROGRESS, SENT, SIGNALS
from plugins.notification.settings import NotificationSettings
from plugins.notification.views import VIEWS

_DELIVER = Message("发送邮件和企业微信通知", "Send notifications by e-mail and WeCom")
_ANNOUNCE = Message("按时发布公告", "Send announcements that are due")

plugin = Plugin(
    name="notification",
    title=Message("消息通知", "Notifications"),
    requires=("rbac", "auth"),
    settings=NotificationSettings,
    start=start,
    demo=demo.load,
    provides=(Passes,),
    collections=(
        MESSAGES,
        SIGNALS,
        SENT,
        PROGRESS,
        ANNOUNCEMENTS,
        RECEIPTS,
        DELIVERIES,
        ADDRESSES,
        PREFERENCES,
        TEMPLATES,
    ),
    biz_types={"ANNOUNCEMENT": ANNOUNCEMENTS},
    routes=routes_of(notifications, live, announcements, mail_templates, deliveries, preferences),
    holdings=(Holding(ANNOUNCEMENTS, "to.users", stays=True),),
    jobs=(
        Job("notification.announce", 2, publishing.run, _ANNOUNCE),
        Job("notification.deliver", 2, send_waiting, _DELIVER),
    ),
    options=preferences.OPTIONS,
    menus=MENUS,
    listens=LISTENERS,
    permissions=PERMISSIONS,
    dictionaries=DICTIONARIES,
    views=VIEWS,
)
