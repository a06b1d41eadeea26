"""The plugin webhook: changes of records are sent to other systems."""

from plugins.api import Job, Message, Plugin
from plugins.api.records import Holding
from plugins.webhook import deliveries, webhooks
from plugins.webhook.dictionaries import DICTIONARIES
from plugins.webhook.lifespan import run, start
from plugins.webhook.menus import MENUS, PERMISSIONS
from plugins.webhook.records import DELIVERIES, WEBHOOKS
from plugins.webhook.settings import WebhookSettings

plugin = Plugin(
    name="webhook",
    title=Message("Webhook", "Webhooks"),
    requires=("rbac",),
    settings=WebhookSettings,
    start=start,
    collections=(WEBHOOKS, DELIVERIES),
    routes=(*webhooks.ROUTES, *deliveries.ROUTES),
    jobs=(Job("webhook.send", 2, run, Message("推送 Webhook", "Send webhooks")),),
    dictionaries=DICTIONARIES,
    menus=MENUS,
    permissions=PERMISSIONS,
    holdings=(Holding(WEBHOOKS, "account_id", stays=True),),
)
