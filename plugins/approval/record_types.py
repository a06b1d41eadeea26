"""The types of the records of Approvals. Generated from its collections by `scripts/check --write`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId


class ApprovalCondition(TypedDict):
    """An object within `ApprovalDefinition`."""

    field: str
    op: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in", "contains", "exists"]
    value: NotRequired[object]


class ApprovalApprovers(TypedDict):
    """An object within `ApprovalDefinition`."""

    users: NotRequired[list[int] | None]
    roles: NotRequired[list[int] | None]
    department_leader: NotRequired[int | None]
    initiator_leader: NotRequired[int | None]


class ApprovalDeadline(TypedDict):
    """An object within `ApprovalDefinition`."""

    hours: int
    remind: NotRequired[int | None]
    then: Literal["remind", "escalate", "agree", "reject", "return"]


class ApprovalBranch(TypedDict):
    """An object within `ApprovalDefinition`."""

    name: str
    conditions: list[ApprovalCondition]
    nodes: list[str]


class ApprovalLane(TypedDict):
    """An object within `ApprovalDefinition`."""

    name: str
    nodes: list[str]


class ApprovalNode(TypedDict):
    """An object within `ApprovalDefinition`."""

    key: str
    name: str
    approvers: ApprovalApprovers
    mode: str
    absent: NotRequired[Literal["leader", "substitute", "refuse"] | None]
    substitutes: NotRequired[ApprovalApprovers | None]
    on_reject: Literal["end", "back"]
    copies: NotRequired[ApprovalApprovers | None]
    deadline: NotRequired[ApprovalDeadline | None]
    reason: NotRequired[Literal["reject", "always"] | None]
    choice: NotRequired[bool | None]
    branches: NotRequired[list[ApprovalBranch] | None]
    lanes: NotRequired[list[ApprovalLane] | None]


class ApprovalDefinition(TypedDict):
    """A record of `approval_definitions`."""

    id: StoredId
    name: str
    biz_type: str
    conditions: list[ApprovalCondition]
    nodes: list[ApprovalNode]
    copies: ApprovalApprovers | None
    repeated: Literal["ask", "skip"] | None
    enabled: bool
    priority: int
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ApprovalFormField(TypedDict):
    """An object within `ApprovalForm`."""

    name: str
    label: str
    label_en: str
    type: Literal["text", "long_text", "integer", "money", "quantity", "boolean", "day", "timestamp", "choice", "reference"]
    dictionary: NotRequired[str | None]
    target: NotRequired[str | None]
    required: bool


class ApprovalForm(TypedDict):
    """A record of `approval_forms`."""

    id: StoredId
    name: str
    biz_type: str
    fields: list[ApprovalFormField]
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]


class ApprovalBranchTaken(TypedDict):
    """An object within `ApprovalInstance`."""

    node: str
    name: str
    branch: str
    index: int


class ApprovalTask(TypedDict):
    """An object within `ApprovalInstance`."""

    node: str
    round: int
    user_id: int
    on_behalf_of: NotRequired[int | None]
    absent: NotRequired[Literal["delegate", "leader", "substitute"] | None]
    repeated: NotRequired[bool | None]
    status: Literal["pending", "waiting", "advice", "advised", "agreed", "rejected", "sent_back", "transferred", "reassigned", "cancelled"]
    asked_at: NotRequired[datetime | None]
    acted_at: NotRequired[datetime | None]
    comment: NotRequired[str | None]


class ApprovalStepFile(TypedDict):
    """An object within `ApprovalInstance`."""

    id: StoredId
    file_name: str
    object_key: str


class ApprovalStep(TypedDict):
    """An object within `ApprovalInstance`."""

    at: datetime
    user_id: int
    action: str
    node: NotRequired[str | None]
    to: NotRequired[str | None]
    to_name: NotRequired[str | None]
    comment: NotRequired[str | None]
    way: NotRequired[Literal["link", "link_without_login"] | None]
    attachments: NotRequired[list[ApprovalStepFile] | None]


class ApprovalInstance(TypedDict):
    """A record of `approval_instances`."""

    id: StoredId
    definition_id: StoredId
    title: str
    record: dict[str, object]
    biz_type: str
    resource_id: str | None
    status: Literal["draft", "pending", "approved", "rejected", "returned", "withdrawn"]
    initiator_id: int
    nodes: list[ApprovalNode]
    taken: list[ApprovalBranchTaken]
    node: str | None
    current: list[str] | None
    tasks: list[ApprovalTask]
    history: list[ApprovalStep]
    copied: list[int]
    mentioned: list[int]
    submitted_at: datetime | None
    finished_at: datetime | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    todo: NotRequired[object]
    done: NotRequired[object]
    round: NotRequired[object]
    needed: NotRequired[object]
    behind: NotRequired[object]
    visits: NotRequired[object]
    passed: NotRequired[object]
    kept: NotRequired[object]
    repeated: NotRequired[object]
    choices: NotRequired[object]
    due: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
    shared_with: NotRequired[list[int]]


class ApprovalDelegation(TypedDict):
    """A record of `approval_delegations`."""

    id: StoredId
    user_id: int
    delegate_id: int
    starts_at: datetime
    ends_at: datetime
    reason: str | None
    version: int
    creator_id: int
    creator_department_id: int | None
    created_at: datetime
    updated_at: datetime
    updater_id: int
    settled: NotRequired[object]
    deleted: NotRequired[bool]
    deleted_at: NotRequired[datetime]
