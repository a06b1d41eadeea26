"""The query and the response of an explanation."""

from __future__ import annotations

from typing import Any

from plugins.api import anything, array, boolean, choice, integer, obj, text
from plugins.rbac.records import MAX_MENUS, METHODS

_given: dict[str, Any] = {"nullable": False}

QUERY = {
    "user_id": integer(minimum=1, required=True, example=2),
    "method": choice(*METHODS, "HEAD", required=True, example="GET"),
    "path": text(
        required=True,
        max_length=2000,
        pattern="^/",
        example="/api/v1/crm/customers/{id}",
        description="A concrete path, or a template with `{id}` or `:id`.",
    ),
    "resource_id": text(
        max_length=100,
        nullable=False,
        example="65f0c0ffee65f0c0ffee65f0",
        description="A record; the path's own `id` where it is left out.",
    ),
}
_ROLE = obj(
    "ExplainedRole",
    {
        "id": integer(**_given),
        "code": text(**_given),
        "name": text(**_given),
        "status": text(**_given),
    },
    nullable=False,
)
_MENU = obj(
    "ExplainedMenu",
    {
        "id": integer(**_given),
        "code": text(**_given),
        "title": text(**_given),
        "permission": text(),
    },
    nullable=False,
)
_API = obj("ExplainedApi", {"method": text(**_given), "path": text(**_given)}, nullable=False)
_USER = obj(
    "ExplainedUser",
    {
        "id": integer(**_given),
        "username": text(**_given),
        "real_name": text(),
        "status": text(**_given),
        "is_super": boolean(**_given),
        "must_change_password": boolean(**_given),
        "department_id": integer(),
        "roles": array(_ROLE, max_items=1000, **_given),
    },
    nullable=False,
)
EXPLANATION = obj(
    "Explanation",
    {
        "user": _USER,
        "route": obj(
            "ExplainedRoute",
            {
                "method": text(**_given),
                "path": text(**_given),
                "summary": text(**_given),
                "access": text(**_given),
                "permission": text(),
                "collection": text(),
            },
        ),
        "allowed": boolean(**_given),
        "code": integer(description="The `code` of the response: 0, or that of an error.", **_given),
        "reasons": array(text(**_given), **_given),
        "conditions": array(
            obj(
                "ExplainedCondition",
                {
                    "code": integer(**_given),
                    "reason": text(
                        description="The message of the response; `{places}` stand for the values that it fills in.",
                        **_given,
                    ),
                    "when": text(description="What it means, if the message does not say."),
                },
                nullable=False,
            ),
            description="What it can be refused for besides, by the record or by what it carries.",
            **_given,
        ),
        "grants": array(
            obj("ExplainedGrant", {"role": _ROLE, "menu": _MENU, "api": _API}), max_items=MAX_MENUS, **_given
        ),
        "missing": array(
            obj(
                "ExplainedNeed",
                {
                    "menu": _MENU,
                    "roles": array(_ROLE, max_items=10_000, **_given),
                },
            ),
            max_items=MAX_MENUS,
            description="Menus and buttons that would allow it, and who has them.",
            **_given,
        ),
        "data_scope": obj(
            "ExplainedScope",
            {
                "words": text(**_given),
                "filter": anything(**_given),
                "departments": array(
                    obj("ExplainedDepartment", {"id": integer(**_given), "name": text(**_given)}),
                    max_items=5000,
                    **_given,
                ),
            },
            nullable=False,
        ),
        "record": obj(
            "ExplainedRecord",
            {
                "visible": boolean(description="Null: the asking person does not see it either."),
                "why": text(**_given),
            },
        ),
    },
    nullable=False,
)
