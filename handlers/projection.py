"""Answers carry what the route declares, and nothing else: no hash, no internal field can slip out."""

from __future__ import annotations

from typing import Any

from handlers.schema import Field


def project(field: Field, value: Any) -> Any:
    """`value` reduced to the fields of its declared shape; a field that is absent is null."""
    if value is None or field.kind not in ("object", "mapping", "array"):
        return value
    if field.kind == "array":
        return [project(field.items, item) for item in value] if field.items is not None else value
    if field.kind == "mapping":
        return {key: project(field.items, item) for key, item in value.items()} if field.items is not None else value
    return {
        name: project(child, value.get(name)) for name, child in (field.fields or {}).items() if not child.write_only
    }
