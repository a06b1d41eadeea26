"""Projection: a response has the fields that its route declares and no others, such as hashes or internal fields."""

from __future__ import annotations

from typing import Any

from handlers.schema.fields import Field


def project(field: Field, value: Any) -> Any:
    """Reduce `value` to the fields of its declared shape; a missing field becomes null."""
    if value is None or not field.holds_fields:
        return value
    if field.kind == "object":
        shown = _select(field, value)
        for name, child in field.nested_fields:
            inner = shown[name]
            if inner or isinstance(inner, dict):  # null and an empty list stay as they are, without a call
                shown[name] = project(child, inner)
        return shown
    if field.items is None:
        return value
    if field.kind == "array":
        return [project(field.items, item) for item in value]
    return {key: project(field.items, item) for key, item in value.items()}


def _select(field: Field, value: Any) -> dict[str, Any]:
    """Return the fields of an object that a response shows.

    A record has all of them and a few others: copying it without those is faster than looking up each field.
    """
    names = field.response_fields
    others = value.keys() - names
    if type(value) is dict and len(value) - len(others) == len(names):
        shown = value.copy()
        for name in others:
            del shown[name]
        return shown
    get = value.get
    return {name: get(name) for name in names}
