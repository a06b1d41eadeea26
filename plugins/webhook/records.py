"""The records of webhook: the addresses that get changes, and what was sent to them."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    anything,
    array,
    choice,
    integer,
    link,
    mapping,
    obj,
    object_id,
    record_name,
    shape,
    text,
    timestamp,
)
from plugins.webhook.events import titles_of_events

KEPT_DAYS = 30
OVERLAP_HOURS = 24
MAX_RESPONSE = 1000

WEBHOOKS = Collection(
    name="webhook_endpoints",
    title="Webhook",
    noun=Message("事件推送", "webhook"),
    watched=True,
    fields={
        "name": record_name(label=("名称", "Name"), max_length=100),
        "url": link(own=False, required=True, label=("地址", "Address"), example="https://hooks.example.com/tradewind"),
        "events": array(
            text(
                max_length=100,
                pattern=r"^(\*|[a-z0-9_]{1,60}\.(\*|[a-z0-9-]{1,30}))$",
                labels=titles_of_events,
                example="crm_customers.update",
            ),
            label=("事件", "Events"),
            required=True,
            min_items=1,
            max_items=100,
            unique=True,
            example=["crm_customers.*"],
            description="`<collection>.<action>`, where the action is `create`, `update`, `delete`, `restore`, or that of "
            "the record's history such as `submit`; `*` for every action, or for everything.",
        ),
        "account_id": integer(
            label=("服务账号", "Service account"),
            required=True,
            minimum=1,
            ref="rbac_users",
            on_delete="keep",
            description="What this service account may not read is not sent.",
        ),
        "status": choice("enabled", "disabled", label=("状态", "Status"), default="enabled", filter=True),
        "failing_since": timestamp(label=("持续失败自", "Failing since"), read_only=True, history=False),
    },
    internal=("secrets",),
)

DELIVERIES = Collection(
    name="webhook_deliveries",
    title="WebhookDelivery",
    noun=Message("推送记录", "delivery"),
    plain=True,
    ids="text",
    default_sort="-created_at",
    fields={
        "webhook_id": object_id(
            label=("事件推送", "Webhook"), nullable=False, ref="webhook_endpoints", on_delete="keep"
        ),
        "number": integer(label=("序号", "Number"), nullable=False, sort=True, description="The order of sending."),
        "message": text(label=("消息编号", "Message"), nullable=False, description="The header `webhook-id`."),
        "event": text(label=("事件", "Event"), nullable=False, filter=True, labels=titles_of_events),
        "resource_id": text(label=("记录 ID", "Record ID"), nullable=False, filter=True),
        "state": choice("pending", "delivered", "failed", label=("推送状态", "State"), nullable=False, filter=True),
        "attempts": integer(label=("尝试次数", "Attempts"), minimum=0, nullable=False),
        "next_at": timestamp(label=("下次尝试时间", "Next attempt at"), nullable=False),
        "status": integer(label=("HTTP 状态码", "HTTP status"), description="Of the last response."),
        "response": text(label=("响应内容", "Response"), max_length=MAX_RESPONSE, description="Its beginning."),
        "fault": text(label=("故障", "Fault"), max_length=200, description="Why there was no response."),
        "created_at": timestamp(label=("创建时间", "Created at"), nullable=False, sort=True),
        "delivered_at": timestamp(label=("送达时间", "Delivered at")),
    },
    indexes=(
        Index("webhook_id", "-created_at", "-id"),
        Index("webhook_id", "state", "number"),
        Index("created_at", expire_seconds=KEPT_DAYS * 86_400),
    ),
    internal=("record", "payload"),
)

SECRET = {
    "secret": text(
        label=("密钥", "Secret"), nullable=False, description="`whsec_…`, shown only once.", example="whsec_…"
    )
}
NEW_WEBHOOK = obj("NewWebhook", {**WEBHOOKS.all_fields, **SECRET}, nullable=False)
NEW_SECRET = shape("WebhookSecret", **SECRET)
ROTATION = shape(
    "WebhookRotation",
    overlap_hours=integer(
        label=("旧密钥保留时长（小时）", "Hours that the old secret signs too"),
        nullable=False,
        minimum=0,
        maximum=24 * 30,
        default=OVERLAP_HOURS,
    ),
)
ATTEMPT = shape(
    "WebhookAttempt",
    status=DELIVERIES.fields["status"],
    response=DELIVERIES.fields["response"],
    fault=DELIVERIES.fields["fault"],
)
_CHANGED = obj(
    "WebhookChange",
    {"field": text(nullable=False), "before": anything(), "after": anything()},
    nullable=False,
)
# the body of a delivery (https://www.standardwebhooks.com)
EVENT = shape(
    "WebhookEvent",
    type=text(nullable=False, example="crm_customers.update"),
    timestamp=timestamp(nullable=False, description="When the record changed."),
    data=shape(
        "WebhookEventData",
        collection=text(nullable=False),
        id=text(nullable=False, description="Of the record."),
        action=text(nullable=False),
        user_id=integer(minimum=0, nullable=False, description="Who changed it; 0 is the service itself."),
        request_id=text(),
        version=integer(minimum=1, nullable=False, description="Of the record after this change."),
        changes=array(_CHANGED, nullable=False, max_items=1000),
        record=mapping(
            anything(), description="The record as a GET answers it now, perhaps after later changes; null if deleted."
        ),
    ),
)
