"""Labels for the fields of test plugins, whose texts do not matter."""

from collections.abc import Mapping

from handlers.schema.fields import Field


def labelled(fields: Mapping[str, Field]) -> dict[str, Field]:
    """The fields, each without a label labelled with its name, as are the fields within them."""
    return {name: _inside(child).but(label=child.label or (name, name)) for name, child in fields.items()}


def _inside(field: Field) -> Field:
    if field.items is not None:
        return field.but(items=_inside(field.items))
    return field.but(fields=labelled(field.fields)) if field.fields else field
