"""The records of announcements: what is announced to whom, and who has received, read and confirmed it."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    StateMachine,
    Transition,
    array,
    boolean,
    choice,
    integer,
    obj,
    object_id,
    service_fields,
    text,
    timestamp,
)
from plugins.notification.messages import ANNOUNCEMENT_OVER
from plugins.notification.record_types import Announcement, AnnouncementReceipt
from plugins.notification.records import MAX_BODY, MAX_RECIPIENTS, MAX_TITLE

ANNOUNCEMENT_STATES = StateMachine(
    name="notification_announcement",
    initial="scheduled",
    states={
        "scheduled": ("待发布", "Scheduled"),
        "published": ("已发布", "Published"),
        "ended": ("已结束", "Ended"),
        "withdrawn": ("已撤回", "Withdrawn"),
    },
    transitions={
        "publish": Transition("scheduled", "published"),
        "end": Transition(("scheduled", "published"), "ended"),
        "withdraw": Transition(("scheduled", "published"), "withdrawn", ("撤回", "Withdraw")),
    },
    record="announcement",
    refusal=ANNOUNCEMENT_OVER,
    done=("published",),
    refused=("withdrawn",),
)


def _several(label: tuple[str, str], target: str, most: int = 100) -> Field:
    return array(integer(minimum=1), label=label, max_items=most, unique=True, ref=target, on_delete="keep")


AUDIENCE = obj(
    "AnnouncementAudience",
    {
        "all": boolean(label=("全体人员", "Everybody"), default=False),
        "departments": _several(("部门（含下级）", "Departments, with those below"), "rbac_departments"),
        "roles": _several(("角色", "Roles"), "rbac_roles"),
        "users": _several(("人员", "People"), "rbac_users", MAX_RECIPIENTS),
    },
    label=("发送范围", "Recipients"),
    required=True,
    nullable=False,
)

ANNOUNCEMENTS: Collection[Announcement] = Collection(
    name="notification_announcements",
    title="Announcement",
    noun=Message("公告", "announcement"),
    scoped=True,
    states=ANNOUNCEMENT_STATES,
    fields={
        "title": text(
            label=("标题", "Title"), required=True, max_length=MAX_TITLE, search=True, example="周五系统维护"
        ),
        "content": text(
            label=("内容", "Content"), required=True, max_length=MAX_BODY, example="周五晚八点起暂停服务两小时。"
        ),
        "to": AUDIENCE,
        "publish_at": timestamp(label=("发布时间", "Publish at"), sort=True, description="At once if omitted."),
        "expires_at": timestamp(
            label=("结束时间", "Ends at"),
            description="From then on it is in no inbox any more.",
        ),
        "confirm": boolean(label=("需要确认", "Must be confirmed"), default=False),
        "status": ANNOUNCEMENT_STATES.choice(filter=True),
        "published_at": timestamp(label=("实际发布时间", "Published at"), read_only=True, sort=True),
        "recipients": integer(label=("接收人数", "Number of recipients"), minimum=0, read_only=True),
    },
    indexes=(Index("status", "publish_at"), Index("status", "cleared")),
    internal=("cleared",),  # whether it was taken out of the inboxes
)

# one for each recipient, kept as evidence when the message itself is gone
RECEIPTS: Collection[AnnouncementReceipt] = Collection(
    name="notification_receipts",
    title="AnnouncementReceipt",
    noun=Message("公告回执", "receipt of an announcement"),
    plain=True,
    ids="text",
    default_sort="user_id",
    fields=service_fields(
        announcement_id=object_id(label=("公告", "Announcement"), ref="notification_announcements", on_delete="keep"),
        user_id=integer(label=("接收人", "Recipient"), minimum=1, ref="users", sort=True, filter=True),
        state=choice("unread", "read", "confirmed", label=("状态", "State"), filter=True),
        sent_at=timestamp(label=("送达时间", "Delivered at")),
    )
    | {
        "read_at": timestamp(label=("阅读时间", "Read at"), read_only=True, sort=True),
        "confirmed_at": timestamp(label=("确认时间", "Confirmed at"), read_only=True, sort=True),
    },
    indexes=(
        Index("announcement_id", "user_id"),
        Index("announcement_id", "state", "user_id"),
        Index("user_id", "state"),
    ),
)


def receipt_id(announcement_id: object, user_id: int) -> str:
    """Return the `_id` of a person's receipt."""
    return f"{announcement_id}:{user_id}"
