"""How the console shows approvals: as the desk of a person, with a tab for each box, and flows as diagrams."""

from typing import Any

from plugins.api import Message, View
from plugins.approval.form_records import FORMS
from plugins.approval.records import DEFINITIONS, INSTANCES

_TYPES = "/api/v1/approvals/types"
_CHOSEN: dict[str, Any] = {"joinValues": False, "extractValue": True}
_SEARCHED: dict[str, Any] = {"type": "select", "searchable": True, "labelField": "name", **_CHOSEN}
_FIELDS = "/api/v1/approvals/forms/fields"
_BY_TYPE: dict[str, Any] = {
    "type": "select",
    "source": {"method": "get", "url": _TYPES},
    "labelField": "name",
    "valueField": "biz_type",
    **_CHOSEN,
}
_FOUND = {"method": "get", "url": "/api/v1/meta/search?q=${term}&kinds=${biz_type}", "sendOn": "${term && biz_type}"}
_RECORD = {
    "type": "select",
    "autoComplete": _FOUND,
    "labelField": "name",
    "valueField": "id",
    "clearable": True,
    **_CHOSEN,
}
_SENT = {name: f"${{{name}}}" for name in ("biz_type", "resource_id")}
_TRIAL = {
    "type": "form",
    "api": {"method": "post", "url": "/api/v1/approvals/simulate", "data": _SENT},
    "wrapWithPanel": False,
    "mode": "horizontal",
    "body": [
        {**_BY_TYPE, "name": "biz_type", "label": Message("业务类型", "Business type"), "required": True},
        {
            **_RECORD,
            "name": "resource_id",
            "label": Message("单据", "Record"),
            "placeholder": Message("输入名称或编号搜索", "Search by name or number"),
        },
        {"type": "submit", "label": Message("试运行", "Try"), "level": "primary"},
        {"type": "flow", "name": "nodes", "label": False, "trial": True, "types": _TYPES},
    ],
}
VIEWS = (
    View(
        INSTANCES,
        columns=("title", "biz_type", "initiator_id", "submitted_at", "status"),
        boxes="box",
        widgets={
            "node": {"type": "hidden"},  # the first at which the person is asked
            "nodes.key": {},
            "nodes.mode": {},
            "attachments": {"type": "attached-files", "biz_type": "APPROVAL"},
            "record": {"type": "declared-fields", "of": "definition_id", "path": _FIELDS},
            "choices": {"type": "flow-choices", "path": "/api/v1/approvals/instances", "label": False},
        },
    ),
    View(
        FORMS,
        columns=("name", "biz_type"),
        widgets={
            "fields.dictionary": {
                **_SEARCHED,
                "source": {"method": "get", "url": "/api/v1/system/dictionaries?page_size=200"},
                "valueField": "type",
                "visibleOn": "${type == 'choice'}",
            },
            "fields.target": {
                **_SEARCHED,
                "source": {"method": "get", "url": "/api/v1/system/custom-fields/collections?use=target"},
                "valueField": "collection",
                "visibleOn": "${type == 'reference'}",
            },
        },
    ),
    View(
        DEFINITIONS,
        widgets={
            "biz_type": _BY_TYPE,
            "conditions": {"type": "hidden"},
            "conditions.value": {"type": "hidden"},
            "copies": {"type": "hidden"},
            "nodes": {"type": "flow", "types": _TYPES},
            "nodes.key": {"type": "hidden"},
            # without items all of a branch is sent, also the values of conditions, which no control is for
            "nodes.branches": {"type": "hidden", "items": None},
            "nodes.lanes": {"type": "hidden"},
            "nodes.mode": {"type": "quorum"},
            "nodes.substitutes": {"visibleOn": "${absent == 'substitute'}"},
        },
        tabs={("试运行", "Try"): _TRIAL},
    ),
)
