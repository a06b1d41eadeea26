"""How the console shows the inbox, announcements, and what was sent."""

from typing import Any

from plugins.api import Message, View
from plugins.notification.announcement_records import ANNOUNCEMENTS
from plugins.notification.channel_records import DELIVERIES, EVERY_KIND, PREFERENCES, TEMPLATES
from plugins.notification.messages import KINDS
from plugins.notification.records import MESSAGES

_LONG = {"type": "textarea", "minRows": 6}
_UNLESS_ALL = {"visibleOn": "${!all}"}
_PREFERENCES = "/api/v1/notifications/preferences"
_KINDS = [("*", Message("其他所有类型", "All other kinds")), *((kind, label) for kind, (label, _) in KINDS.items())]
_WAYS = {
    "on": Message("立即", "At once"),
    "digest": Message("汇总", "In the digest"),
    "off": Message("关闭", "Off"),
}


def _select(name: str, label: Message, options: Any, value: str) -> dict[str, Any]:
    shown = [{"label": title, "value": each} for each, title in options]
    return {"type": "select", "name": name, "label": label, "options": shown, "value": value, "required": True}


def _clock(name: str, label: Message) -> dict[str, Any]:
    clock = {"valueFormat": "HH:mm", "displayFormat": "HH:mm", "clearable": True}
    return {"type": "input-time", "name": name, "label": label, **clock}


_OWN = {
    "type": "form",
    "initApi": {"method": "get", "url": _PREFERENCES},
    "api": {"method": "put", "url": _PREFERENCES, "data": {name: f"${{{name}}}" for name in PREFERENCES.fields}},
    "wrapWithPanel": False,
    "mode": "horizontal",
    "body": [
        {
            "type": "combo",
            "name": "kinds",
            "label": Message("按类型选择", "By kind"),
            "multiple": True,
            "multiLine": True,
            "items": [
                _select("kind", Message("消息类型", "Kind"), _KINDS, EVERY_KIND),
                _select("email", Message("邮件", "E-mail"), _WAYS.items(), "on"),
                _select("wecom", Message("企业微信", "WeCom"), _WAYS.items(), "on"),
            ],
        },
        _clock("quiet_from", Message("免打扰开始", "Quiet from")),
        _clock("quiet_to", Message("免打扰结束", "Quiet until")),
        _clock("digest_at", Message("汇总时间", "Digest at")),
        _select(
            "language",
            Message("通知语言", "Language of messages"),
            (("zh", Message("中文", "Chinese")), ("en", Message("英文", "English"))),
            "zh",
        ),
        {"type": "submit", "label": Message("保存", "Save"), "level": "primary"},
    ],
}
VIEWS = (
    View(
        MESSAGES,
        columns=("title", "body", "created_at", "unread"),
        tabs={("通知偏好", "Notification preferences"): _OWN},
    ),
    View(
        ANNOUNCEMENTS,
        columns=("title", "status", "publish_at", "expires_at", "confirm", "recipients", "published_at"),
        widgets={"content": _LONG, **{f"to.{name}": _UNLESS_ALL for name in ("departments", "roles", "users")}},
    ),
    View(DELIVERIES, columns=("user_id", "kind", "channel", "state", "rule", "attempts", "answer", "created_at")),
    View(
        TEMPLATES,
        columns=("kind", "language", "subject"),
        widgets={
            "kind": {"type": "select", "options": [{"value": kind, "label": title} for kind, title in _KINDS]},
            "text": _LONG,
            "html": _LONG,
        },
    ),
)
