"""Links: the references that a collection declares, including those within objects and lines, and what deletions do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handlers.schema.fields import Field, OnDelete
from handlers.schema.messages import Message
from handlers.schema.values import RecordId, Values


@dataclass(frozen=True)
class Link:
    """One reference of a collection.

    `path` is the path of its field in a query, such as `lines.product_id`; `arrays` are the lists along it, outermost
    first. `read_only`: only the service writes it.
    """

    path: str
    field: Field
    arrays: tuple[Field, ...]
    read_only: bool

    @property
    def target(self) -> str:
        """The name or alias of the collection that it refers to."""
        return self.field.ref or ""

    @property
    def on_delete(self) -> OnDelete:
        """What deleting a record does to those that refer to it: as the field declares, or by who writes it."""
        return self.field.on_delete or ("keep" if self.read_only else "restrict")

    @property
    def held(self) -> Message | None:
        """The field's own message for a refused deletion, if it has one."""
        return self.field.held

    @property
    def acts(self) -> bool:
        """Whether deleting a record acts on those that refer to it, or is restricted by them."""
        return self.on_delete != "keep"

    @property
    def nested(self) -> bool:
        """Whether the field lies within an object."""
        return "." in self.path

    @property
    def in_lines(self) -> bool:
        """Whether the field lies in the objects of one list, each of which requires it."""
        return len(self.arrays) == 1 and self.path.count(".") == 1 and self.field.required

    @property
    def is_list(self) -> bool:
        """Whether the field is a list of ids."""
        return self.field.kind == "array" or bool(self.arrays and self.arrays[-1].items is self.field)

    @property
    def fixed(self) -> bool:
        """Whether clients cannot remove the reference from a record."""
        if self.read_only:
            return True
        return not self.is_list and not self.arrays and (self.field.required or not self.field.nullable)

    @property
    def clearable(self) -> bool:
        """Whether the reference can be emptied: one value that may be null, or one list of ids that may be empty."""
        lists = self.arrays if self.field.kind != "array" else (*self.arrays, self.field)
        if self.is_list:
            return len(lists) == 1 and not lists[0].rules.get("minItems")
        return not lists and self.field.nullable and not self.field.required

    def ids(self, rows: Iterable[Values]) -> set[RecordId]:
        """Return the ids that these records or changes refer to."""
        return {id for row in rows for _, id in self.places(row)}

    def places(self, row: Values) -> Iterator[tuple[str, RecordId]]:
        """Yield each id that a record refers to, with the path of its value, such as `lines[2].product_id`."""
        return _values_at(row, self.path.split("."), "")


def find_links(fields: Mapping[str, Field]) -> tuple[Link, ...]:
    """Return every reference among these fields and within them."""
    return tuple(link for name, child in fields.items() for link in _links_in(name, child, (), (), child.read_only))


def _links_in(
    path: str, field: Field, above: tuple[Field, ...], arrays: tuple[Field, ...], read_only: bool
) -> Iterator[Link]:
    if field in above:  # the children of a tree
        return
    if field.ref:
        yield Link(path, field, arrays, read_only)
    for name, child in (field.fields or {}).items():
        yield from _links_in(f"{path}.{name}", child, (*above, field), arrays, read_only or child.read_only)
    if field.items is not None and field.kind == "array":
        yield from _links_in(path, field.items, (*above, field), (*arrays, field), read_only)


def _values_at(value: Any, names: list[str], place: str) -> Iterator[tuple[str, RecordId]]:
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _values_at(one, names, f"{place}[{number}]")
    elif names and isinstance(value, Mapping):
        yield from _values_at(value.get(names[0]), names[1:], f"{place}.{names[0]}" if place else names[0])
    elif not names and value is not None:
        yield place, value
