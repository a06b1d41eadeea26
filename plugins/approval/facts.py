"""What conditions see besides a record's own fields: of what it refers to, of its initiator, and sums over its lines.

`customer_id.level` is the field `level` of the customer to which `customer_id` refers, `initiator.department_id` the
department of who submits, and `lines.amount.sum` the sum of `amount` over `lines`. They are read when a request is
submitted; a flow keeps what it decided by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from plugins.api import Collection, Field, Service, money
from plugins.api.records import Catalogue, approval_fields
from plugins.api.requests import as_json
from plugins.approval.form_records import find_form_fields
from plugins.rbac.api import USERS, Directory

INITIATOR_FIELDS = ("department_id",)
SUM = "sum"
NUMBERS = ("integer", "number", "money", "quantity")
Condition = Mapping[str, Any]


async def fields_of(service: Service, biz_type: str) -> Mapping[str, Field] | None:
    """Return the fields of what an approval of this type is about: of its records, or of its form; None without both."""
    catalogue = service.part(Catalogue)
    collection = catalogue.biz_types.get(biz_type)
    if collection is None:
        return await find_form_fields(service, biz_type)
    return approval_fields(catalogue.routes, collection)


def conditions_of(flow: Mapping[str, Any]) -> list[Condition]:
    """Return the conditions of a flow, and of all its branches."""
    branches = [branch for node in flow.get("nodes") or () for branch in node.get("branches") or ()]
    return [one for part in (flow, *branches) for one in part.get("conditions") or ()]


def find_field(catalogue: Catalogue, shown: Mapping[str, Field], path: Sequence[str]) -> Field | None:
    """Return the field at a path of names; what is within a list or has no declared fields has no path."""
    name, *rest = path
    if name == "initiator" and name not in shown:
        return USERS.fields[rest[0]] if len(rest) == 1 and rest[0] in INITIATOR_FIELDS else None
    field = shown.get(name)
    if field is None or not rest:
        return field
    if field.kind == "mapping":
        return field.items if len(rest) == 1 else None
    if field.kind == "array":
        return _summed(field, rest)
    if field.ref is not None:
        target = _referred(catalogue, field)
        found = readable(target).get(rest[0]) if target is not None and len(rest) == 1 else None
        return found.but(nullable=True, required=False) if found is not None else None  # the record may be deleted
    return find_field(catalogue, field.fields or {}, rest)


def readable(collection: Collection) -> Mapping[str, Field]:
    """Return the fields of what a record refers to that conditions may name: single values that are no secret."""
    fields = collection.read.fields or {}
    hidden = ("object", "array", "mapping", "any")
    return {name: one for name, one in fields.items() if not (one.secret or one.write_only or one.kind in hidden)}


def _summed(field: Field, rest: Sequence[str]) -> Field | None:
    if len(rest) != 2 or rest[1] != SUM or field.items is None:
        return None
    one = (field.items.fields or {}).get(rest[0])
    return money(label=one.label, nullable=field.nullable) if one is not None and one.kind in NUMBERS else None


def _referred(catalogue: Catalogue, field: Field) -> Collection | None:
    return next((one for one in catalogue.collections.values() if field.ref in (one.name, one.alias)), None)


async def gather_facts(
    service: Service,
    biz_type: str,
    conditions: Iterable[Condition],
    record: Mapping[str, Any],
    initiator_id: int | None,
) -> dict[str, Any]:
    """Return the record with what these conditions need besides it, by the path that they name."""
    paths, facts = {one["field"] for one in conditions if "." in one["field"]}, dict(record)
    shown = (await fields_of(service, biz_type) or {}) if paths else {}
    for path in paths:
        value = await _find_fact(service, shown, record, path.split("."), initiator_id)
        if value is not None:
            facts[path] = value
    return facts


async def _find_fact(
    service: Service,
    shown: Mapping[str, Field],
    record: Mapping[str, Any],
    path: Sequence[str],
    initiator_id: int | None,
) -> Any:
    name, *rest = path
    if name == "initiator" and name not in record:
        user = await service.part(Directory).user(initiator_id) if initiator_id is not None else None
        return (user or {}).get(rest[0]) if len(rest) == 1 and rest[0] in INITIATOR_FIELDS else None
    value, field = record.get(name), shown.get(name)
    if isinstance(value, list) and len(rest) == 2 and rest[1] == SUM:
        return _add_up([one.get(rest[0]) for one in value if isinstance(one, Mapping)])
    if value is None or field is None or field.ref is None or len(rest) != 1:
        return None
    target = _referred(service.part(Catalogue), field)
    if target is None or rest[0] not in readable(target):
        return None
    found = await service.database.store(target).find_one({"_id": target.parse_id(str(value))})
    return as_json(target.read, found).get(rest[0]) if found is not None else None


def _add_up(values: Iterable[Any]) -> str | None:
    try:
        return str(sum((Decimal(str(one)) for one in values if one is not None), Decimal(0)))
    except InvalidOperation:
        return None
