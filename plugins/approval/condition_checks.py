"""Conditions name what a record has, and compare it with what it can be: otherwise their flow would never apply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from plugins.api import Field, Service
from plugins.api.errors import FieldError
from plugins.api.records import Catalogue, Dictionaries
from plugins.approval.facts import NUMBERS, fields_of, find_field

EQUALITY = ("eq", "ne", "in", "not_in", "exists")
_ORDER = ("gt", "gte", "lt", "lte")
_TIMES = ("day", "timestamp")
_LISTS = ("in", "not_in")
# these operators require a value; for the others null is meaningful
_WITH_VALUE = (*_ORDER, *_LISTS, "contains")


async def find_faults(service: Service, flow: Mapping[str, Any]) -> list[FieldError]:
    """Return the faults of the business type and the conditions of a flow.

    The type is one whose records are approved, with the fields that their approval shows, or one of the dictionary
    `biz_type`, whose requests have the fields of its form, or any without one.
    """
    catalogue = service.part(Catalogue)
    shown = await fields_of(service, flow["biz_type"])
    if flow["biz_type"] not in catalogue.biz_types or shown is None:
        entry = (await service.part(Dictionaries).current()).get("biz_type", {}).get(flow["biz_type"])
        if entry is None or not entry.enabled:
            return [FieldError("biz_type", "dictionary")]
    faults: list[FieldError] = []
    for where, condition in placed_conditions(flow):
        fault = _find_fault(catalogue, condition, shown)
        if fault is not None:
            faults.append(FieldError(f"{where}.{fault[0]}", fault[1]))
    return faults


def placed_conditions(flow: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the conditions of a flow and of its branches, each with its place in the body."""
    for number, condition in enumerate(flow.get("conditions") or ()):
        yield f"conditions[{number}]", condition
    for number, node in enumerate(flow.get("nodes") or ()):
        for index, branch in enumerate(node.get("branches") or ()):
            for place, condition in enumerate(branch.get("conditions") or ()):
                yield f"nodes[{number}].branches[{index}].conditions[{place}]", condition


def _find_fault(
    catalogue: Catalogue, condition: Mapping[str, Any], shown: Mapping[str, Field] | None
) -> tuple[str, str] | None:
    """Return the part of a condition that is wrong, and the rule that it breaks."""
    op, value = condition["op"], condition.get("value")
    if op in _WITH_VALUE and value is None:
        return "value", "required"
    if shown is None:
        return None
    field = find_field(catalogue, shown, condition["field"].split("."))
    if field is None:
        return "field", "unknown"
    if field.kind != "any" and op not in operators_of(field):
        return "op", "enum"
    if op == "exists":
        return None if value is None or isinstance(value, bool) else ("value", "type")
    compared = field.items if field.kind == "array" else field
    values = value if op in _LISTS and isinstance(value, list) else [value]
    fits = compared is None or all(one is None or _fits(compared, one) for one in values)
    return None if fits else ("value", "type")


def operators_of(field: Field) -> Iterator[str]:
    """Yield the operators that make sense for a field."""
    if field.kind in ("object", "mapping"):
        yield "exists"
    elif field.kind == "array":
        yield from ("contains", "exists")
    else:
        yield from EQUALITY
        yield from _ORDER if field.kind in (*NUMBERS, *_TIMES) else ()
        yield from ("contains",) if field.kind == "text" else ()


def _fits(field: Field, value: Any) -> bool:
    """Return whether a field can have this value; numbers may be texts."""
    if field.kind in NUMBERS:
        return not isinstance(value, bool) and _is_number(value)
    if field.kind == "boolean":
        return isinstance(value, bool)
    if field.kind in _TIMES:
        return isinstance(value, str) and _is_time(field.kind, value)
    allowed = field.rules.get("enum")
    if allowed is not None:
        return value in allowed
    return field.kind not in ("text", "object_id") or isinstance(value, str)


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, int | float | str) and Decimal(str(value)).is_finite()
    except InvalidOperation:
        return False


def _is_time(kind: str, value: str) -> bool:
    """Return whether a text is a day, or a moment; a day alone also begins a moment."""
    try:
        date.fromisoformat(value) if kind == "day" else datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
