"""The business record within an approval, as it was when it was submitted, with the names of what it refers to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Field, Request
from plugins.api.records import Catalogue
from plugins.api.requests import name_references


async def add_reference_names(req: Request, instance: Mapping[str, Any]) -> dict[str, Any]:
    """Put the names of what the record of an approval refers to beside its ids, as responses with the record do.

    Requests that belong to no business record stay as their initiators wrote them.
    """
    collection = req.part(Catalogue).biz_types.get(instance["biz_type"])
    record = instance.get("record")
    if collection is None or instance["resource_id"] is None or not isinstance(record, Mapping):
        return dict(instance)
    shape = collection.read
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
