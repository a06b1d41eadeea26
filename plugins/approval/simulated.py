"""The bodies and the responses of simulations, and of what flows can be about."""

from __future__ import annotations

from plugins.api import Field, anything, array, boolean, choice, integer, mapping, obj, object_id, shape, text
from plugins.approval.records import ABSENT, CONDITION, DEFINITIONS, MAX_PEOPLE, NODE_FIELDS, OPERATORS, TAKEN

SIMULATE_BODY = shape(
    "ApprovalSimulate",
    initiator_id=integer(minimum=1, example=1, description="The caller by default.", ref="users"),
    record=mapping(anything(), example={"amount": "1200.00"}),
)
_ASKED = shape(
    "ApprovalAsked",
    user_id=integer(nullable=False, ref="users"),
    name=text(nullable=False),
    on_behalf_of=integer(label=("原处理人", "On behalf of"), ref="users"),
    absent=ABSENT,
    because=text(
        label=("原因", "Because"), description="Which part of the node names the person, or its rule for absence."
    ),
)
_WHO: dict[str, Field] = {
    "nodes": array(
        obj(
            None,
            {name: child.but(nullable=False) for name, child in NODE_FIELDS.items() if name in ("key", "name", "mode")}
            | {"lanes": NODE_FIELDS["lanes"]}
            | {
                "approvers": array(_ASKED, max_items=MAX_PEOPLE, nullable=False),
                "needed": integer(
                    label=("需同意人数", "People who must agree"),
                    nullable=False,
                    description="If this is more than the approvers, the node would refuse the request.",
                ),
            },
        ),
        nullable=False,
    ),
    "taken": array(TAKEN, label=("所经分支", "Branches taken"), nullable=False),
    "open_node": text(label=("无适用分支的节点", "Open node"), description="The node of which no branch applies."),
    "copies": array(_ASKED, label=("抄送人", "Copied people"), max_items=1000, nullable=False),
}
SIMULATION = shape(
    "ApprovalSimulation",
    matches=boolean(label=("符合条件", "Matches"), nullable=False, description="Whether the conditions hold."),
    **_WHO,
)
TRIAL_BODY = shape(
    "ApprovalTrialBody",
    biz_type=DEFINITIONS.fields["biz_type"],
    resource_id=text(
        label=("业务单据", "Record"), max_length=100, description="A record of this type that the caller may read."
    ),
    record=mapping(
        anything(), example={"amount": "1200.00"}, description="Values, which come before those of the record."
    ),
    initiator_id=integer(
        label=("发起人", "Initiator"),
        minimum=1,
        example=1,
        description="By default who created the record, or else the caller.",
        ref="users",
    ),
)
_TRIED = shape(
    "ApprovalTried",
    id=object_id(nullable=False),
    name=text(label=("流程名称", "Flow name"), nullable=False),
    failed=array(CONDITION, max_items=20, nullable=False, description="Its conditions that do not hold."),
)
TRIAL = shape(
    "ApprovalTrial",
    definition_id=object_id(
        label=("审批流程", "Approval flow"),
        ref="approval_definitions",
        description="The flow that applies; null without one.",
    ),
    initiator_id=integer(label=("发起人", "Initiator"), nullable=False, ref="users"),
    **_WHO,
    flows=array(_TRIED, nullable=False, description="The enabled flows of the type, the first by priority first."),
)
_LABELLED = shape("ApprovalValue", value=text(nullable=False), label=text(nullable=False))
TYPE_FIELD = shape(
    "ApprovalField",
    field=text(nullable=False),
    label=text(nullable=False),
    kind=text(nullable=False),
    operators=array(choice(*OPERATORS, nullable=False), nullable=False),
    values=array(
        _LABELLED,
        nullable=False,
        description="The values of a field that accepts only these.",
    ),
    ref=text(description="The collection to whose records the field refers."),
    required=boolean(nullable=False, description="Whether a record, or a request by a form, must have it."),
)
TYPES = shape(
    "ApprovalTypes",
    operators=array(_LABELLED, nullable=False, description="What operators of conditions are called."),
    items=array(
        shape(
            "ApprovalType",
            biz_type=text(nullable=False),
            name=text(nullable=False),
            collection=text(description="The collection of its records; null if requests are not about a record."),
            fields=array(
                TYPE_FIELD,
                nullable=False,
                description="Of its records or of its form; empty if requests may have any fields.",
            ),
        ),
        nullable=False,
    ),
)
