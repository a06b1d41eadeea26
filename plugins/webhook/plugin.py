"""The plugin webhook: changes of records are sent to other systems."""

from __future__ import annotations

from plugins.api import Job, Message, Plugin, dictionary, page, routes_of
from plugins.api.records import Holding
from plugins.webhook import deliveries, webhooks
from plugins.webhook.lifespan import run, start
from plugins.webhook.records import DELIVERIES, WEBHOOKS
from plugins.webhook.settings import WebhookSettings

DICTIONARIES = (
    dictionary(
        "webhook_delivery_state",
        ("推送状态", "State of a delivery"),
        pending=("待推送", "Pending", "blue"),
        delivered=("已送达", "Delivered", "green"),
        failed=("失败", "Failed", "red"),
    ),
)

MENUS = (page("system:webhook", ("事件推送", "Webhooks"), "/system/webhooks", "lucide:workflow", 13),)

PERMISSIONS = {
    "system:webhook:ping": Message("测试", "Try"),
    "system:webhook:replay": Message("重新推送", "Replay"),
    "system:webhook:rotate": Message("更换密钥", "Rotate the secret"),
}

plugin = Plugin(
    name="webhook",
    title=Message("事件推送", "Webhooks"),
    requires=("rbac",),
    settings=WebhookSettings,
    start=start,
    collections=(WEBHOOKS, DELIVERIES),
    routes=routes_of(webhooks, deliveries),
    jobs=(Job("webhook.send", 2, run, Message("发送事件推送", "Send webhooks")),),
    dictionaries=DICTIONARIES,
    menus=MENUS,
    permissions=PERMISSIONS,
    # the account belongs to the webhook, and is nobody who leaves
    holdings=(Holding(WEBHOOKS, "account_id", stays=True),),
)
