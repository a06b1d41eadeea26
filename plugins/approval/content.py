"""What an approval is about: its record with the names of what it refers to, and as labels and values for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

from plugins.api import Field, Request, obj
from plugins.api.records import Catalogue, Dictionaries
from plugins.api.requests import name_references
from plugins.api.spreadsheets import labels_of
from plugins.approval.facts import fields_of
from plugins.approval.form_records import find_form_fields
from plugins.approval.messages import NO, YES

_NEVER = ("id", "version")


async def list_content(req: Request, instance: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the labels and values of what an approval is about, given with the names of what it refers to.

    Of a type without declared fields they are called by their names.
    """
    catalogue, entries = req.part(Catalogue), await req.part(Dictionaries).current()
    record = instance.get("record") or {}
    fields = await fields_of(req.service, instance["biz_type"])
    if fields is None:
        plain = {name: value for name, value in record.items() if not isinstance(value, Mapping | list)}
        return [{"label": name, "value": str(value)} for name, value in plain.items() if value not in (None, "")]
    values: dict[str, Any] = {}
    for name, beside, field in _shown(catalogue, instance["biz_type"], fields):
        value, compared = record.get(name), field.items if field.kind == "array" and field.items else field
        label = labels_of(catalogue, entries, compared).get(value) if isinstance(value, str) else None
        called = record.get(beside)
        values[name] = called if called is not None else label.text(req.language) if label is not None else value
    return show_values(req, fields, values)


def show_values(req: Request, fields: Mapping[str, Field], values: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return those of the values that are not empty, as people read them, with the labels of their fields."""
    said = [(fields[name].label, _say(req, fields[name], value)) for name, value in values.items()]
    return [{"label": label.text(req.language), "value": value} for label, value in said if label is not None and value]


async def _shape_of(req: Request, instance: Mapping[str, Any]) -> Field | None:
    """Return the shape of the record that an approval is about, or of its form; None without either."""
    collection = req.part(Catalogue).biz_types.get(instance["biz_type"])
    if collection is not None:
        return collection.read if instance["resource_id"] is not None else None
    fields = await find_form_fields(req.service, instance["biz_type"])
    return obj(None, fields) if fields is not None else None


async def add_reference_names(req: Request, instance: Mapping[str, Any]) -> dict[str, Any]:
    """Put the names of what the record of an approval refers to beside its ids, as responses with the record do.

    Requests without a business record and without a form stay as their initiators wrote them.
    """
    shape, record = await _shape_of(req, instance), instance.get("record")
    if shape is None or not isinstance(record, Mapping):
        return dict(instance)
    shown = _fitting(shape, record)
    await name_references(req, shape, [shown])
    return {**instance, "record": _merged(shape, record, shown)}


def _fitting(shape: Field, value: Any) -> Any:
    """Return `value` with all fields of the shape; what does not fit is None, as the shape may have changed since."""
    if shape.kind == "object" and isinstance(value, Mapping):
        return {name: _fitting(child, value.get(name)) for name, child in (shape.fields or {}).items()}
    if shape.kind == "array" and isinstance(value, list) and shape.items is not None:
        items = [_fitting(shape.items, item) for item in value]
        return None if None in items else items
    fits = shape.kind not in ("object", "array", "mapping") and not isinstance(value, Mapping | list)
    return value if fits else None


def _merged(shape: Field, value: Any, shown: Any) -> Any:
    """Return `value` with the names from `shown` beside the ids in `value`."""
    if isinstance(value, Mapping) and isinstance(shown, Mapping):
        fields = shape.fields or {}
        parts = {
            name: _merged(fields[name], part, shown[name]) if name in fields else part for name, part in value.items()
        }
        names = {one.name: shown[one.name] for one in shape.siblings if one.beside in value}
        return parts | {name: called for name, called in names.items() if called is not None or name not in parts}
    if isinstance(value, list) and isinstance(shown, list) and shape.items is not None:
        return [_merged(shape.items, one, other) for one, other in zip(value, shown, strict=True)]
    return value


def _shown(catalogue: Catalogue, biz_type: str, fields: Mapping[str, Field]) -> Iterator[tuple[str, str, Field]]:
    """Yield the fields with a plain value, each with the name of what holds the name of the record that it refers to."""
    collection = catalogue.biz_types.get(biz_type)
    hidden = {*_NEVER, *(collection.audit_fields if collection is not None else ())}
    siblings = obj(None, fields).siblings
    hidden |= {one.name for one in siblings}
    names = {one.beside: one.name for one in siblings}
    for name, field in fields.items():
        if name not in hidden and not (field.secret or field.write_only or field.holds_fields or field.kind == "any"):
            yield name, names.get(name, ""), field


def _say(req: Request, field: Field, value: Any) -> str:
    """Return a value as people read it; an empty text for none."""
    if value is None or value == "" or isinstance(value, Mapping):
        return ""
    if isinstance(value, list):
        said = (_say(req, field, one) for one in value)
        return ("、" if req.language == "zh" else ", ").join(one for one in said if one)
    if isinstance(value, bool):
        return (YES if value else NO).text(req.language)
    if field.kind in ("money", "quantity"):
        return _amount(str(value))
    if field.kind == "timestamp":
        return _moment(value, req.service.settings.zone)
    return str(value)


def _amount(given: str) -> str:
    try:
        return f"{Decimal(given):,f}"
    except InvalidOperation:
        return given


def _moment(given: Any, zone: ZoneInfo) -> str:
    try:
        moment = given if isinstance(given, datetime) else datetime.fromisoformat(str(given))
        return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"
    except ValueError:
        return str(given)
