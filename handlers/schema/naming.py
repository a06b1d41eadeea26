"""Names beside references: `collect` finds the references of a response, and `add_names` puts the names beside them.

Both work on many values of one shape at once, field by field, because most responses are lists. If all names are in
memory, `add_kept_names` does the same in one pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handlers.schema.fields import Field, Sibling, array, text
from handlers.schema.values import Record, RecordId

MAX_NAME = 10_000  # longer than any field that holds a record's name
Names = Mapping[str, Mapping[RecordId, str]]  # by the name of the collection in references
References = defaultdict[str, set[RecordId]]
NamesInMemory = Mapping[str, Callable[[RecordId], str | None]]  # by the name of the collection in references


def name_shape(sibling: Sibling) -> Field:
    """Return the shape of a name in responses."""
    reference, note = sibling.reference, f"The current name of `{sibling.beside}`; read-only."
    name = text(max_length=MAX_NAME, read_only=True, label=reference.label)
    if not sibling.many:
        return name.but(description=note)
    listed = array(name, max_items=reference.rules["maxItems"], nullable=reference.nullable)
    return listed.but(items=name, label=reference.label, read_only=True, description=f"{note} In the same order.")


def collect(shape: Field, values: Sequence[Any], found: References) -> None:
    """Add the ids that these projected values of `shape` refer to, by the name of the collection in references."""
    given = [value for value in values if value is not None]
    if not given or not shape.holds_names:
        return
    if shape.kind != "object":
        _collect_inside(shape, given, found)
        return
    for sibling in shape.siblings:
        held = [value[sibling.beside] for value in given]
        if sibling.many:
            held = [_id_in(sibling, one) for several in held if several for one in several]
        found[sibling.target].update(held)
    for name, child in shape.named_fields:
        collect(child, [value[name] for value in given], found)


def _collect_inside(shape: Field, values: Sequence[Any], found: References) -> None:
    if shape.items is not None:
        collect(shape.items, [item for value in values for item in _items(shape, value)], found)


def add_names(shape: Field, values: Sequence[Any], names: Names) -> None:
    """Put the names into these projected values of `shape`; an unknown id gets null, unless the value has a name."""
    given = [value for value in values if value is not None]
    if not given or not shape.holds_names:
        return
    if shape.kind != "object":
        _add_inside(shape, given, names)
        return
    for sibling in shape.siblings:
        known = names.get(sibling.target, {})
        if sibling.many:
            _add_lists(sibling, given, known)
        elif sibling.own:
            _add_known(sibling, given, known)
        else:
            name, beside, get = sibling.name, sibling.beside, known.get
            for value in given:
                value[name] = get(value[beside])
    for name, child in shape.named_fields:
        add_names(child, [value[name] for value in given], names)


def add_kept_names(shape: Field, values: Sequence[Any], kept: NamesInMemory) -> bool:
    """Put names from memory into these projected values of `shape`; return whether all of them were in memory."""
    given = [value for value in values if value]
    if not given:
        return True
    if shape.kind != "object":
        return shape.items is None or add_kept_names(
            shape.items, [item for value in given for item in _items(shape, value)], kept
        )
    # loops rather than calls and `all`, which would cost as much as the work itself
    for sibling in shape.siblings:
        get = kept.get(sibling.target, _get_none)
        if sibling.many:
            if not _add_lists_kept(sibling, given, get):
                return False
            continue
        name, beside = sibling.name, sibling.beside
        for value in given:
            id = value[beside]
            if id is not None:
                called = get(id)
                if called is None:
                    return False
                value[name] = called
            elif not sibling.own:
                value[name] = None
    for name, child in shape.named_fields:  # noqa: SIM110 - as above
        if not add_kept_names(child, [value[name] for value in given], kept):
            return False
    return True


def _add_lists_kept(sibling: Sibling, values: Sequence[Record], get: Callable[[RecordId], str | None]) -> bool:
    for value in values:
        several = value[sibling.beside]
        called = None if several is None else [get(_id_in(sibling, one)) for one in several]
        if called is not None and None in called:
            return False
        value[sibling.name] = called
    return True


def _get_none(_id: RecordId) -> None:
    return None


def _add_inside(shape: Field, values: Sequence[Any], names: Names) -> None:
    if shape.items is not None:
        add_names(shape.items, [item for value in values for item in _items(shape, value)], names)


def _add_lists(sibling: Sibling, values: Sequence[Record], known: Mapping[RecordId, str]) -> None:
    for value in values:
        several = value[sibling.beside]
        value[sibling.name] = None if several is None else [known.get(_id_in(sibling, one)) for one in several]


def _add_known(sibling: Sibling, values: Sequence[Record], known: Mapping[RecordId, str]) -> None:
    for value in values:
        name = known.get(value[sibling.beside])
        if name is not None:
            value[sibling.name] = name


def _items(shape: Field, value: Any) -> Any:
    return value if shape.kind == "array" else value.values()


def _id_in(sibling: Sibling, item: Any) -> RecordId:
    by = sibling.reference.named_by
    return item[by] if by else item
