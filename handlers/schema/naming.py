"""Names beside references: `collect` finds the references of a response, and `add_names` puts the names beside them.

Both work on many values of one shape at once, field by field, because most responses are lists. If all names are in
memory, `KeptNames.add` does the same in one pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import call, itemgetter
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
        if plan.names:
            for value in given:
                ids = plan.ids(value)
                called = list(map(call, plan.getters, ids))  # one for each getter; `ids` has one more
                if None in called and not plan.complete(ids, called):
                    return False
                value.update(zip(plan.names, called, strict=True))
        return not plan.further or self._add_further(plan, given)

    def _add_further(self, plan: _Plan, given: Sequence[Any]) -> bool:
        for sibling, get, get_else in plan.own:
            for value in given:
                key = value[sibling.beside]
                name = get(key) or get_else(key)
                if name is not None:
                    value[sibling.name] = name
                elif key is not None:
                    return False
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
        siblings = [
            (one, self._getters.get(one.target, _get_none), self._fallbacks.get(one.target, _get_none))
            for one in shape.siblings
        ]
        single = [named for named in siblings if not (named[0].many or named[0].own)]
        own = [named for named in siblings if named[0].own and not named[0].many]
        lists = [(one, get) for one, get, _ in siblings if one.many]
        nested = [(itemgetter(name), child) for name, child in shape.named_fields]
        besides = [one.beside for one, _, _ in single]
        plan = self._plans[id(shape)] = _Plan(
            shape,
            [one.name for one, _, _ in single],
            itemgetter(*besides, besides[0]) if besides else tuple,
            [get for _, get, _ in single],
            [get_else for _, _, get_else in single],
            own,
            lists,
            nested,
            further=bool(own or lists or nested),
        )
        return plan


@dataclass(frozen=True, slots=True)
class _Plan:
    """What `KeptNames` does with the objects of a shape, which is held because its `id` is its key.

    `names` are the fields for names, `ids` returns the ids they belong to, `getters` and `fallbacks` their names. `own`
    are the fields that keep their value if there is no name, and `further` says whether there is more than `names`.
    """

    shape: Field
    names: Sequence[str]
    ids: Callable[[Record], tuple[RecordId, ...]]  # returns the first id once more at the end: always a tuple
    getters: Sequence[Getter]
    fallbacks: Sequence[Getter]
    own: Sequence[tuple[Sibling, Getter, Getter]]
    lists: Sequence[tuple[Sibling, Getter]]
    nested: Sequence[tuple[Callable[[Record], Any], Field]]
    further: bool

    def complete(self, ids: Sequence[RecordId], called: list[str | None]) -> bool:
        """Put the names of actors without a record among the names; return whether none is missing."""
        for place, name in enumerate(called):
            if name is None and ids[place] is not None:
                found = called[place] = self.fallbacks[place](ids[place])
                if found is None:
                    return False
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
