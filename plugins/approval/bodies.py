"""What requests to act on approvals carry, and what they answer besides records."""

from __future__ import annotations

from plugins.api import array, boolean, choice, integer, object_id, shape, text
from plugins.approval.records import INITIATOR, MAX_FILES, MAX_PEOPLE
from plugins.approval.tree import MAX_NODES

_COMMENT_FIELD = {"comment": text(label=("审批意见", "Comment"), max_length=1000, example="同意")}
_NODE_FIELD = {
    "node": text(
        label=("节点", "Node"),
        max_length=64,
        description="Needed by somebody who is asked at several current nodes; by default the first.",
    )
}
ACT_BODY = shape("ApprovalAct", **_COMMENT_FIELD)
DECIDE_BODY = shape("ApprovalDecide", **_NODE_FIELD, **_COMMENT_FIELD)
SUBMIT_BODY = shape(
    "ApprovalSubmit",
    **_COMMENT_FIELD,
    choices=array(
        shape(
            "ApprovalChoice",
            node=text(label=("节点", "Node"), required=True, max_length=64),
            branch=text(label=("分支名称", "Branch name"), max_length=100),
            users=array(
                integer(minimum=1, ref="rbac_users"), label=("审批人", "Approvers"), max_items=MAX_PEOPLE, unique=True
            ),
        ),
        label=("发起人自选", "The initiator's choices"),
        max_items=MAX_NODES,
        description="For nodes with `choice`: which of the people whom it names are asked, or which branch is taken.",
    ),
)
BATCH_BODY = shape(
    "ApprovalBatch",
    action=choice("agree", "reject", label=("操作", "Action"), required=True),
    ids=array(
        object_id(required=True, nullable=False),
        label=("审批单", "Approvals"),
        required=True,
        min_items=1,
        max_items=100,
        unique=True,
    ),
    reason=text(label=("审批意见", "Comment"), max_length=1000),
)
BATCH = shape(
    "ApprovalBatchResult",
    items=array(
        shape(
            "ApprovalBatchItem",
            id=object_id(nullable=False),
            code=integer(nullable=False, description="0, or the error of this task."),
            message=text(nullable=False),
            status=text(description="The state of the approval now; null if the task was refused."),
        ),
        nullable=False,
    ),
)
SIGNER_BODY = shape(
    "ApprovalAddSigner",
    **_NODE_FIELD,
    **_COMMENT_FIELD,
    user_id=integer(minimum=1, ref="rbac_users", required=True, description="The person who must agree as well."),
    place=choice(
        "before",
        "after",
        label=("加签方式", "Place"),
        required=True,
        description="Before the approvers of this node, whose tasks wait meanwhile, or after them.",
    ),
)
ADVICE_BODY = shape(
    "ApprovalAskAdvice",
    **_NODE_FIELD,
    **_COMMENT_FIELD,
    user_id=integer(minimum=1, ref="rbac_users", required=True, description="Who is asked, and decides nothing."),
)
ADVISE_BODY = shape("ApprovalAdvise", comment=text(label=("意见", "Advice"), max_length=1000, required=True))
COMMENT_BODY = shape(
    "ApprovalCommentBody",
    comment=text(label=("评论", "Comment"), max_length=1000, required=True),
    mentions=array(
        integer(minimum=1, ref="rbac_users"),
        label=("提到的人", "Mentioned people"),
        max_items=20,
        unique=True,
        description="They are told, and may read the approval and its record from then on.",
    ),
    attachments=array(
        object_id(required=True, nullable=False),
        label=("附件", "Files"),
        max_items=MAX_FILES,
        unique=True,
        description="Ids of attachments of this approval (type `APPROVAL`), which nobody can remove from then on.",
    ),
)
BACK_BODY = shape(
    "ApprovalSendBack",
    **_NODE_FIELD,
    **_COMMENT_FIELD,
    keep=boolean(
        label=("保留已同意的节点", "Keep agreements"),
        description="The nodes in between that agreed are not asked again; after the initiator, only if the content stays "
        "as it was.",
    ),
    to=text(
        label=("退回到", "Send back to"),
        max_length=64,
        key_of="send_back_to",
        default=INITIATOR,
        example=INITIATOR,
        description="`initiator`, or the key of an earlier node.",
    ),
)
TRANSFER_BODY = shape(
    "ApprovalTransfer", **_COMMENT_FIELD, **_NODE_FIELD, user_id=integer(minimum=1, ref="rbac_users", required=True)
)
REASSIGN_BODY = shape(
    "ApprovalReassign",
    **_NODE_FIELD,
    **_COMMENT_FIELD,
    from_user_id=integer(
        label=("原审批人", "Current assignee"),
        minimum=1,
        required=True,
        description="The person whose task it is now.",
        ref="users",
    ),
    user_id=integer(minimum=1, ref="rbac_users", required=True, description="The new assignee."),
)
COUNTS = shape(
    "ApprovalCounts", **{name: integer(minimum=0, nullable=False) for name in ("todo", "done", "mine", "copied")}
)
