"""Answers carry what the route declares, and nothing else: no hash, no internal field can slip out."""

from __future__ import annotations

from typing import Any

from handlers.schema.fields import Field


def project(field: Field, value: Any) -> Any:
    """`value` reduced to the fields of its declared shape; a field that is absent is null."""
    if value is None or not field.holds_fields:
        return value
    if field.kind == "object":
        get = value.get
        shown = {name: get(name) for name in field.answered}
        for name, child in field.narrowed:
            shown[name] = project(child, shown[name])
        return shown
    if field.items is None:
        return value
    if field.kind == "array":
        return [project(field.items, item) for item in value]
    return {key: project(field.items, item) for key, item in value.items()}
