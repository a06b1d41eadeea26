"""What plugins that require webhook may import."""

from plugins.webhook.records import DELIVERIES, WEBHOOKS

__all__ = ["DELIVERIES", "WEBHOOKS"]
