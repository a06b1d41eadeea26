"""The records of handovers, and the shapes of their requests and responses."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    StateMachine,
    Transition,
    array,
    boolean,
    integer,
    obj,
    object_id,
    text,
    timestamp,
)

MAX_FAILURES = 100
_MAX_COLLECTIONS = 200
STATES = StateMachine(
    name="rbac_handover",
    initial="running",
    states={"running": ("进行中", "Running"), "finished": ("已完成", "Finished"), "failed": ("部分失败", "Failed")},
    transitions={"finish": Transition("running", "finished"), "fail": Transition("running", "failed")},
    done=("finished",),
    refused=("failed",),
)
_COLLECTION = text(label=("数据表", "Collection"), max_length=100, nullable=False)
_FIELD = text(label=("字段", "Field"), max_length=200, nullable=False)
_COUNT = integer(label=("数量", "Count"), minimum=0, nullable=False)
_MESSAGE = text(label=("原因", "Reason"), max_length=2000, nullable=False)
_RECORD_ID = text(label=("记录 ID", "Record ID"), max_length=100, nullable=False)

HANDOVERS = Collection(
    name="rbac_handovers",
    title="HandoverRecord",
    noun=Message("工作交接", "handover"),
    fields={
        "user_id": integer(label=("交出人", "From"), minimum=1, read_only=True, nullable=False, ref="rbac_users"),
        "to_user_id": integer(label=("接收人", "To"), minimum=1, read_only=True, nullable=False, ref="rbac_users"),
        "status": STATES.choice(label=("交接状态", "Status")),
        "items": array(
            obj("HandedOver", {"collection": _COLLECTION, "field": _FIELD, "count": _COUNT}, nullable=False),
            label=("已移交", "Handed over"),
            max_items=_MAX_COLLECTIONS,
            read_only=True,
            nullable=False,
            history=False,
        ),
        "failures": array(
            obj(
                "HandoverFailure",
                {
                    "collection": _COLLECTION,
                    "resource_id": _RECORD_ID,
                    "zh": _MESSAGE.but(label=("中文原因", "Reason in Chinese")),
                    "en": _MESSAGE.but(label=("英文原因", "Reason in English")),
                },
                nullable=False,
            ),
            label=("未能移交", "Not handed over"),
            max_items=MAX_FAILURES,
            read_only=True,
            nullable=False,
            default=[],
            history=False,
        ),
        "finished_at": timestamp(label=("完成时间", "Finished at"), read_only=True),
    },
    indexes=(
        Index("user_id", "-created_at"),
        Index("status"),
        Index("user_id", unique=True, where={"status": "running"}),
    ),
    internal=("request_id",),
    states=STATES,
)

_ITEMS = array(
    obj(
        "Held",
        {
            "collection": _COLLECTION,
            "field": _FIELD.but(description="The field of the records that names the person."),
            "label": text(
                nullable=False, description="The records and the person's role in them, such as `customer (owner)`."
            ),
            "count": _COUNT,
        },
        nullable=False,
    ),
    max_items=_MAX_COLLECTIONS,
    nullable=False,
)
HANDOVER = obj(
    "Handover",
    {
        "id": object_id(description="Null for a dry run."),
        "user_id": integer(nullable=False, ref="users", description="Whose work it was."),
        "to_user_id": integer(nullable=False, ref="users", description="Who received it."),
        "status": STATES.choice(
            default=None,
            description="`running` continues by itself, even after a restart; with `failed`, the records in "
            "`failures` are left and must be handed over again. Null for a dry run.",
        ),
        "items": _ITEMS.but(description="What was handed over so far; in a dry run, what would be."),
        "failures": array(
            obj(
                "NotHandedOver",
                {"collection": _COLLECTION, "resource_id": _RECORD_ID, "message": _MESSAGE},
                nullable=False,
            ),
            max_items=MAX_FAILURES,
            nullable=False,
            description=f"Records that could not be handed over, and why; the first {MAX_FAILURES}.",
        ),
        "created_at": timestamp(description="Null for a dry run."),
        "finished_at": timestamp(),
    },
)
HOLDINGS = obj(
    "Holdings",
    {
        "items": _ITEMS.but(description="What the person holds now."),
        "handover": HANDOVER.but(description="The last handover of the person; null if there is none."),
    },
    nullable=False,
)
HANDOVER_BODY = obj(
    "HandoverBody",
    {
        "to": integer(
            label=("接收人", "To"),
            minimum=1,
            ref="users",
            required=True,
            description="Another user, who must be enabled.",
        ),
        "collections": array(
            text(max_length=100, min_length=1, example="crm_customers"),
            label=("数据表", "Collections"),
            unique=True,
            min_items=1,
            max_items=_MAX_COLLECTIONS,
            description="Only these of `holdings`; everything if left out. Several calls can divide the work among "
            "people.",
        ),
        "dry_run": boolean(label=("试运行", "Dry run"), default=False, description="Only count; change nothing."),
    },
    nullable=False,
)
