"""The query and the response of an explanation."""

from __future__ import annotations

from plugins.api import anything, array, boolean, choice, integer, obj, shape, text
from plugins.rbac.records import MAX_MENUS, METHODS

_LONGEST_REASON = 100 * 102  # the names of all roles that somebody may have; a path is shorter

QUERY = {
    "user_id": integer(label=("人员", "Person"), minimum=1, required=True, example=2, ref="users"),
    "method": choice(*METHODS, "HEAD", required=True, example="GET", label=("请求方法", "Method")),
    "path": text(
        label=("请求路径", "Path"),
        required=True,
        max_length=2000,
        pattern="^/",
        example="/api/v1/crm/customers/{id}",
        description="A concrete path, or a template with `{id}` or `:id`.",
    ),
    "resource_id": text(
        label=("记录 ID（可选）", "Record ID (optional)"),
        max_length=100,
        nullable=False,
        example="65f0c0ffee65f0c0ffee65f0",
        description="The ID of a record; by default the `id` in the path.",
    ),
}
OWN_QUERY = {name: field for name, field in QUERY.items() if name != "user_id"}
_ROLE = shape(
    "ExplainedRole",
    id=integer(nullable=False),
    code=text(nullable=False),
    name=text(nullable=False),
    status=text(nullable=False),
)
_MENU = shape(
    "ExplainedMenu",
    id=integer(nullable=False),
    code=text(nullable=False),
    title=text(nullable=False),
    permission=text(),
)
_API = shape("ExplainedApi", method=text(nullable=False), path=text(nullable=False))
_USER = shape(
    "ExplainedUser",
    id=integer(nullable=False),
    username=text(nullable=False),
    real_name=text(),
    status=text(nullable=False),
    is_super=boolean(nullable=False),
    must_change_password=boolean(nullable=False),
    department_id=integer(ref="departments"),
    roles=array(_ROLE, max_items=1000, nullable=False),
)
EXPLANATION = shape(
    "Explanation",
    user=_USER,
    route=obj(
        "ExplainedRoute",
        {
            "method": text(nullable=False),
            "path": text(nullable=False),
            "summary": text(nullable=False),
            "access": text(nullable=False),
            "permission": text(),
            "collection": text(),
        },
    ),
    allowed=boolean(label=("是否允许", "Allowed"), nullable=False),
    code=integer(
        label=("返回码", "Code"), description="The `code` of the response: 0, or that of an error.", nullable=False
    ),
    reasons=array(text(nullable=False, max_length=_LONGEST_REASON), nullable=False, label=("原因", "Reasons")),
    conditions=array(
        shape(
            "ExplainedCondition",
            code=integer(label=("返回码", "Code"), nullable=False),
            reason=text(
                label=("原因", "Reason"),
                description="The message of the response, with `…` for each value that it fills in.",
                nullable=False,
            ),
            when=text(label=("适用情形", "When"), description="What it means, if the message does not say."),
        ),
        description="Further reasons to refuse the request, which depend on the record or on what is sent.",
        nullable=False,
        label=("其他条件", "Further conditions"),
    ),
    grants=array(
        obj("ExplainedGrant", {"role": _ROLE, "menu": _MENU, "api": _API}), max_items=MAX_MENUS, nullable=False
    ),
    missing=array(
        obj(
            "ExplainedNeed",
            {
                "menu": _MENU,
                "roles": array(_ROLE, max_items=10_000, nullable=False),
            },
        ),
        max_items=MAX_MENUS,
        description="Menus and buttons that would allow it, and the roles that have them.",
        nullable=False,
    ),
    data_scope=shape(
        "ExplainedScope",
        words=text(nullable=False),
        filter=anything(nullable=False),
        departments=array(
            obj("ExplainedDepartment", {"id": integer(nullable=False), "name": text(nullable=False)}),
            max_items=5000,
            nullable=False,
        ),
    ),
    record=obj(
        "ExplainedRecord",
        {
            "visible": boolean(description="Null if the caller does not see the record either."),
            "why": text(nullable=False),
        },
    ),
)
