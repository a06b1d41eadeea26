"""Forms, which administrators make for each business type, and the check of requests by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import CONFLICT, ApiError, Request, Route, conflicts, crud, invalid, obj
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.fields import Checker, declaration_faults
from plugins.api.records import Dictionaries
from plugins.api.requests import as_json
from plugins.approval.facts import conditions_of
from plugins.approval.form_records import FORMS, completed, find_form_fields
from plugins.approval.messages import FORM_IN_USE
from plugins.approval.record_types import ApprovalForm
from plugins.approval.records import DEFINITIONS


async def check_record(req: Request, biz_type: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a request as its form stores it. Raises 40001 for what the form does not allow."""
    fields = await find_form_fields(req.service, biz_type)
    if fields is None:
        return dict(record)
    form = obj(None, fields)
    await req.part(Dictionaries).current()
    try:
        values = req.checked(Checker(form), dict(record))
    except ValidationFailed as failure:
        raise ValidationFailed([FieldError(f"record.{one.field}", one.rule) for one in failure.errors]) from None
    for name, field in fields.items():
        if field.ref is None or (id := values.get(name)) is None:
            continue
        if await req.system_store(req.service.database.referred[field.ref]).find_one({"_id": id}) is None:
            raise invalid(f"record.{name}", "reference")
    return {name: value for name, value in as_json(form, values).items() if value is not None}


async def create(req: Request) -> ApprovalForm:
    """Make the form of a business type."""
    await _check(req, req.body)
    return await req.store(FORMS).create(req.body)


async def update(req: Request) -> ApprovalForm:
    """Change a form. Requests under way keep what they have; drafts are checked when they are submitted."""
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(FORMS).get(req.path["id"])
    await _check(req, {**before, **values})
    return await req.store(FORMS).update(before["id"], values, version=version)


async def _check(req: Request, form: Mapping[str, Any]) -> None:
    """Raise 40001 for fields that cannot be, and 40901 if conditions of an enabled flow name one that would be gone."""
    entries, known = await req.part(Dictionaries).current(), req.service.database.referred
    faults: list[FieldError] = []
    for number, one in enumerate(form["fields"]):
        earlier, found = form["fields"][:number], declaration_faults(completed(one), entries, known)
        found += [
            FieldError(name, "duplicate")
            for name in ("name", "label", "label_en")
            if any(one[name] == other[name] for other in earlier)
        ]
        faults += [FieldError(f"fields[{number}].{fault.field}", fault.rule) for fault in found]
    if faults:
        raise ValidationFailed(faults)
    names = {one["name"] for one in form["fields"]}
    for flow in await req.system_store(DEFINITIONS).find({"biz_type": form["biz_type"], "enabled": True}):
        named = {one["field"].partition(".")[0] for one in conditions_of(flow)} - {"initiator"}
        if named - names:
            raise ApiError(CONFLICT, FORM_IN_USE.filled(flow=flow["name"], field=min(named - names)))


ROUTES: tuple[Route, ...] = crud(
    FORMS,
    at="/api/v1/approvals/forms",
    resource="approval:form",
    create=create,
    update=update,
    refusals=conflicts(FORM_IN_USE),
)
