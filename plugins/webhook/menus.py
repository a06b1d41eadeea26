"""The menus of the plugin, and titles of permissions."""

from plugins.api import Message, page

MENUS = (page("system:webhook", ("Webhook", "Webhooks"), "/system/webhooks", "lucide:workflow", 13),)

PERMISSIONS = {
    "system:webhook:ping": Message("测试", "Try"),
    "system:webhook:replay": Message("重新推送", "Replay"),
    "system:webhook:rotate": Message("更换密钥", "Rotate the secret"),
}
