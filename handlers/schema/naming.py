"""Names beside references: `collect` finds the references of a response, and `add_names` puts the names beside them.

Both work on many values of one shape at once, field by field, because most responses are lists. If all names are in
memory, `KeptNames.add` does the same in one pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from handlers.schema.fields import Field, Sibling, array, text
from handlers.schema.values import Record, RecordId

_MOST_PLANS = 10_000  # a program has a few hundred shapes, unless a plugin builds them for each request
MAX_NAME = 10_000  # longer than any field that holds a record's name
Names = Mapping[str, Mapping[RecordId, str]]  # by the name of the collection in references
References = defaultdict[str, set[RecordId]]
Getter = Callable[[RecordId], str | None]


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


class KeptNames:
    """The names that are kept in memory, for responses.

    `getters` return a name by the id of its record, `fallbacks` the name of an actor without a record; both are by the
    name of the collection in references. Each shape is compiled once, as that costs as much as the work itself.
    """

    def __init__(self, getters: Mapping[str, Getter], fallbacks: Mapping[str, Getter]) -> None:
        self._getters = getters
        self._fallbacks = fallbacks
        self._plans: dict[int, _Plan] = {}

    def add(self, shape: Field, values: Sequence[Any]) -> bool:
        """Put the names into these projected values of `shape`; return whether all of them were in memory."""
        given = list(filter(None, values))
        if not given:
            return True
        if shape.kind != "object":
            items = shape.items
            return items is None or self.add(items, [item for value in given for item in _items(shape, value)])
        plan = self._plans.get(id(shape)) or self._compile(shape)
        for name, beside, get, get_else, own in plan.single:
            for value in given:
                called = get(value[beside])
                if called is None and (key := value[beside]) is not None:
                    called = get_else(key)
                    if called is None:
                        return False
                if called is not None or not own:
                    value[name] = called
        return not (plan.lists or plan.nested) or self._add_further(plan, given)

    def _add_further(self, plan: _Plan, given: Sequence[Any]) -> bool:
        for sibling, get in plan.lists:
            for value in given:
                several = value[sibling.beside]
                called = several and [get(_id_in(sibling, one)) for one in several]
                if called and None in called:
                    return False
                value[sibling.name] = called
        for get_inner, child in plan.nested:
            inner = list(filter(None, map(get_inner, given)))
            if inner and not self.add(child, inner):
                return False
        return True

    def _compile(self, shape: Field) -> _Plan:
        """Return the plan of an object."""
        if len(self._plans) == _MOST_PLANS:
            self._plans.clear()
        siblings = [(one, self._getters.get(one.target, _get_none)) for one in shape.siblings]
        single = [
            (one.name, one.beside, get, self._fallbacks.get(one.target, _get_none), one.own)
            for one, get in siblings
            if not one.many
        ]
        lists = [(one, get) for one, get in siblings if one.many]
        nested = [(itemgetter(name), child) for name, child in shape.named_fields]
        plan = self._plans[id(shape)] = _Plan(shape, single, lists, nested)
        return plan


@dataclass(frozen=True, slots=True)
class _Plan:
    """What `KeptNames` does with the objects of a shape, which is held because its `id` is its key."""

    shape: Field
    single: Sequence[tuple[str, str, Getter, Getter, bool]]
    lists: Sequence[tuple[Sibling, Getter]]
    nested: Sequence[tuple[Callable[[Record], Any], Field]]


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
