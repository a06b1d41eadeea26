"""The records of forms: the fields of requests that are about no business record, by their business type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Collection, Field, Index, Message, Service, array, obj, record_name, text
from plugins.api.fields import DECLARATION, field_of
from plugins.approval.record_types import ApprovalForm

MOST_FIELDS = 30
FORMS: Collection[ApprovalForm] = Collection(
    name="approval_forms",
    title="ApprovalForm",
    noun=Message("审批表单", "request form"),
    default_sort="biz_type",
    fields={
        "name": record_name(label=("表单名称", "Form name"), max_length=100, example="用印申请"),
        "biz_type": text(
            label=("业务类型", "Business type"),
            required=True,
            max_length=64,
            dictionary="biz_type",
            filter=True,
            sort=True,
            example="GENERAL",
            description="Requests of this type have these fields and no others.",
        ),
        "fields": array(
            obj("ApprovalFormField", DECLARATION),
            label=("表单字段", "Fields"),
            required=True,
            min_items=1,
            max_items=MOST_FIELDS,
        ),
    },
    indexes=(Index("biz_type", unique=True),),
)


async def find_form_fields(service: Service, biz_type: str) -> Mapping[str, Field] | None:
    """Return the fields that requests of this type have, by name; None if there is no form for it.

    Fields that refer to records of a plugin which is not loaded are left out.
    """
    form = await service.database.store(FORMS).find_one({"biz_type": biz_type})
    return fields_in_form(service, form) if form is not None else None


def fields_in_form(service: Service, form: Mapping[str, Any]) -> Mapping[str, Field]:
    """Return the fields that a form declares, by name."""
    known = service.database.referred
    declared = [completed(one) for one in form["fields"]]
    return {one["name"]: field_of(one, known) for one in declared if one["target"] is None or one["target"] in known}


def completed(declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the declaration of a field with what may be left out of it."""
    return {**{name: one.default for name, one in DECLARATION.items()}, **declared}
