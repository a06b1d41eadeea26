"""Fields that many records have, and the shapes of bodies and responses."""

from __future__ import annotations

from typing import Unpack

from handlers.schema.fields import Field, FieldOptions, obj, text


def shape(name: str, /, **fields: Field) -> Field:
    """Declare an object with exactly these fields, never null, and a component of this name in the OpenAPI document."""
    return obj(name, fields, nullable=False)


def service_fields(**fields: Field) -> dict[str, Field]:
    """Return these fields as ones that only the service writes, and that always have a value."""
    return {name: field.but(read_only=True, nullable=False) for name, field in fields.items()}


def record_name(*, max_length: int = 200, **options: Unpack[FieldOptions]) -> Field:
    """Declare what people call a record: required, searched, and sorted in the order in which they look for names."""
    given: FieldOptions = {"required": True, "search": True, "sort": "folded", **options}
    return text(max_length=max_length, **given)


def record_code(*, max_length: int = 64, **options: Unpack[FieldOptions]) -> Field:
    """Declare the code of a record: required, and lists can be searched, sorted and filtered by it."""
    given: FieldOptions = {"required": True, "search": True, "sort": True, "filter": True, **options}
    return text(max_length=max_length, **given)
