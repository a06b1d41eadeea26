"""The records of channels: what waits, was sent or was not and why; choices of people, templates, dead addresses."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    array,
    boolean,
    choice,
    integer,
    obj,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.notification.channels import CHANNELS, MAX_ANSWER
from plugins.notification.record_types import (
    NotificationAddress,
    NotificationDelivery,
    NotificationPreferences,
    NotificationTemplate,
)
from plugins.notification.records import KEPT_SECONDS

RULES = (
    "always",  # the company wants it sent
    "own",  # the person wants it sent
    "default",  # nobody has chosen
    "off",  # the person does not want it
    "preferred",  # nobody has chosen, and it goes out on a better channel
    "read",  # it was read while it waited
    "gone",  # it was deleted or withdrawn while it waited
    "disabled",  # the person is disabled
    "no_address",
    "bad_address",
    "dead_address",
    "not_set_up",  # this service has no such channel
)
EVERY_KIND = "*"
_CLOCK = r"^(([01][0-9]|2[0-3]):[0-5][0-9])?$"  # empty is none
_KIND = text(
    label=("消息类型", "Kind"),
    required=True,
    max_length=64,
    pattern=r"^(\*|[a-z0-9_.-]+)$",
    example="approval_task",
    description="A kind of message, or `*` for all others.",
)
CHANNEL = choice(*CHANNELS, label=("渠道", "Channel"), nullable=False)

# the queue, and the record of what became of each message on each channel: at most one by the `_id`
DELIVERIES: Collection[NotificationDelivery] = Collection(
    name="notification_deliveries",
    title="NotificationDelivery",
    noun=Message("发送记录", "delivery of a notification"),
    plain=True,
    ids="text",
    default_sort="-created_at",
    fields=service_fields(
        message=text(label=("消息编号", "Notification"), max_length=24, filter=True),
        user_id=integer(label=("接收人", "Recipient"), minimum=1, ref="users", filter=True),
        kind=text(label=("消息类型", "Kind"), max_length=64, dictionary="notification_kind"),
        channel=CHANNEL,
        state=choice("waiting", "sent", "failed", "skipped", label=("状态", "State"), filter=True),
        attempts=integer(label=("尝试次数", "Attempts"), minimum=0),
        created_at=timestamp(label=("创建时间", "Created at"), sort=True),
    )
    | {
        "rule": choice(*RULES, label=("规则", "Rule"), read_only=True, description="Why it is sent, or is not."),
        "waits_for": choice("quiet", "digest", "retry", label=("等待", "Waits for"), read_only=True),
        "next_at": timestamp(label=("下次尝试时间", "Next attempt at"), read_only=True),
        "address": text(label=("地址", "Address"), max_length=254, read_only=True),
        "answer": text(
            label=("对方答复", "Answer"), max_length=MAX_ANSWER, read_only=True, description="Of the last attempt."
        ),
        "ended_at": timestamp(label=("结束时间", "Ended at"), read_only=True),
        "digest": text(
            label=("汇总", "Digest"), max_length=100, read_only=True, description="Those of one digest have the same."
        ),
    },
    indexes=(
        Index("state", "channel", "next_at"),
        Index("digest", where={"digest": {"$type": "string"}}),
        Index("message", "-created_at", "-id"),
        Index("user_id", "-created_at", "-id"),
        Index("state", "-created_at", "-id"),
        Index("-created_at", "-id"),
        Index("created_at", expire_seconds=KEPT_SECONDS),
    ),
)

# addresses to which nothing could be delivered: they are tried again after a week, or when they change
ADDRESSES: Collection[NotificationAddress] = Collection(
    name="notification_addresses",
    title="NotificationAddress",
    plain=True,
    ids="text",
    default_sort="id",
    fields={
        "address": text(nullable=False),
        "dead_since": timestamp(nullable=False),
        "answer": text(max_length=MAX_ANSWER),
    },
)

_SENT = choice("on", "off", "digest", label=("邮件", "E-mail"), required=True)
_CHOICES = array(
    obj("NotificationChoice", {"kind": _KIND, "email": _SENT, "wecom": _SENT.but(label=Message("企业微信", "WeCom"))}),
    label=("按类型", "By kind"),
    nullable=False,
    max_items=100,
    default=[],
)
PREFERENCES: Collection[NotificationPreferences] = Collection(
    name="notification_preferences",
    title="NotificationPreferences",
    noun=Message("通知偏好", "notification preferences"),
    plain=True,
    ids="integer",
    default_sort="id",
    fields={
        "language": choice("zh", "en", label=("语言", "Language"), default="zh"),
        "quiet_from": text(label=("免打扰开始", "Quiet from"), max_length=5, pattern=_CLOCK, example="22:00"),
        "quiet_to": text(label=("免打扰结束", "Quiet until"), max_length=5, pattern=_CLOCK, example="07:30"),
        "digest_at": text(label=("汇总时间", "Digest at"), max_length=5, pattern=_CLOCK, example="18:00"),
        "kinds": _CHOICES,
    },
)
_REACHED = obj(
    "NotificationChannel",
    {
        "channel": CHANNEL,
        "set_up": boolean(label=("已启用", "Set up"), nullable=False),
        "address": text(label=("地址", "Address"), max_length=254),
        "dead_since": timestamp(label=("无法送达自", "Undeliverable since")),
    },
    nullable=False,
)
ALWAYS = array(
    text(
        max_length=80,
        pattern=rf"^(\*|[a-z0-9_.-]+):({'|'.join(CHANNELS)})$",
        example="approval_task:wecom",
        nullable=False,
    ),
    label=("不可关闭", "Cannot be switched off"),
    max_items=200,
    unique=True,
    default=[],
    nullable=False,
)
OWN_PREFERENCES = shape(
    "OwnNotificationPreferences",
    **{name: field.but(read_only=False) for name, field in PREFERENCES.fields.items()},
    always=ALWAYS.but(description="`kind:channel` that the company has sent whatever a person chooses."),
    channels=array(_REACHED, label=("渠道", "Channels"), nullable=False),
)

_SOURCE = "It may insert `title`, `body`, `link`, `name` and `kind`, use `if`, and the filters of the manual."
TEMPLATES: Collection[NotificationTemplate] = Collection(
    name="notification_templates",
    title="NotificationTemplate",
    noun=Message("邮件模板", "e-mail template"),
    watched=True,
    label="subject",
    fields={
        "kind": _KIND.but(filter=True),
        "language": choice("zh", "en", label=("语言", "Language"), required=True, filter=True),
        "subject": text(label=("主题", "Subject"), required=True, max_length=300, example="{{ title }}"),
        "text": text(
            label=("纯文本", "Plain text"),
            required=True,
            max_length=20_000,
            example="{{ body }}\n{{ link }}",
            description=_SOURCE,
        ),
        "html": text(label=("网页格式", "HTML"), max_length=50_000, example="<p>{{ body }}</p>", description=_SOURCE),
    },
    indexes=(Index("kind", "language", unique=True),),
)
PREVIEW = shape("NotificationTemplatePreview", **{name: TEMPLATES.fields[name] for name in ("subject", "text", "html")})
_MAX_RENDERED = 2_000_000
RENDERED = shape(
    "RenderedNotification",
    **{name: field.but(rules={"maxLength": _MAX_RENDERED}) for name, field in (PREVIEW.fields or {}).items()},
)

_ON_CHANNEL = obj(
    "NotificationOnChannel",
    {
        "channel": choice("inbox", *CHANNELS, label=("渠道", "Channel"), nullable=False),
        **{
            name: DELIVERIES.fields[name]
            for name in ("state", "rule", "waits_for", "attempts", "next_at", "address", "answer", "ended_at")
        },
    },
    nullable=False,
)
WHY = shape(
    "NotificationWhy",
    kind=text(label=("消息类型", "Kind"), nullable=False, dictionary="notification_kind"),
    key=text(label=("去重键", "Key"), description="The event that it comes from: there is one message for each."),
    caused_by=integer(
        label=("触发人", "Caused by"), minimum=0, nullable=False, ref="users", description="0: the service."
    ),
    created_at=timestamp(label=("创建时间", "Created at"), nullable=False),
    channels=array(_ON_CHANNEL, label=("渠道", "Channels"), nullable=False),
)
