"""`shape`: the shapes of bodies and responses."""

from __future__ import annotations

from handlers.schema.fields import Field, obj


def shape(name: str, /, **fields: Field) -> Field:
    """An object with exactly these fields, never null, and a component of this name in the OpenAPI document."""
    return obj(name, fields, nullable=False)
