"""Own fields: fields that others add to a collection, and the catalogue in which everything about it has them.

A plugin declares them (`Extends`), or an administrator does so while the service runs. Declarations are values, so nothing
changes in place: the routes, tables and collections that an own field concerns are made anew, all others stay the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection, extended
from handlers.route import Route
from handlers.schema.fields import Field
from handlers.tables.handlers import with_columns

PREFIX = "x_"
OwnFields = Mapping[str, Mapping[str, Field]]  # by the name of the collection


@dataclass(frozen=True)
class Extends:
    """Own fields of a plugin on a collection of another plugin, which it requires.

    The names begin with `x_`, as they do in bodies, responses and stored records. Lists have an index for each field with
    `filter`. A `required` field is asked for in new records and cannot be emptied; older records have no value in it.
    """

    collection: Collection
    fields: Mapping[str, Field]


def extend(catalogue: Catalogue, own: OwnFields) -> Catalogue:
    """Return the catalogue in which these collections have these fields too; unknown collections are passed over."""
    pairs = [
        (one, extended(one, fields))
        for name, fields in own.items()
        if fields and (one := catalogue.collections.get(name))
    ]
    if not pairs:
        return catalogue
    changed = {after.name: after for _, after in pairs}
    responses = _Shapes((one.read, two.read) for one, two in pairs)
    responses.know((one.tree, two.tree) for one, two in pairs)
    bodies = _Shapes(form for one, two in pairs for form in ((one.update, two.update), (one.create, two.create)))

    def made_of(route: Route) -> Route:
        route = with_columns(route, changed)
        body, returns, query = bodies.of(route.body), responses.of(route.returns), _extend_query(route.query, pairs)
        if body is route.body and returns is route.returns and query is route.query:
            return route
        return replace(route, body=body, returns=returns or route.returns, query=query)

    return replace(
        catalogue,
        collections={**catalogue.collections, **changed},
        biz_types={name: changed.get(one.name, one) for name, one in catalogue.biz_types.items()},
        routes=tuple(made_of(one) for one in catalogue.routes),
    )


def _extend_query(query: Mapping[str, Field], pairs: Iterable[tuple[Collection, Collection]]) -> Mapping[str, Field]:
    """Return the parameters of a list, or of an export, with those of its collection, perhaps beside others."""
    for before, after in pairs:
        if query.get("sort") is before.list_query["sort"]:
            further = {name: one for name, one in after.list_query.items() if name not in before.list_query}
            query = {**query, "sort": after.list_query["sort"], **further}
    return query


class _Shapes:
    """The shapes of bodies or responses, with the own fields of the collections whose records they are, or contain.

    A shape is of a collection if it has all fields of the collection's own shape: a plugin may add others to it.
    """

    def __init__(self, forms: Iterable[tuple[Field, Field]]) -> None:
        self._added: list[tuple[Mapping[str, Field], Mapping[str, Field]]] = []
        self._fields: dict[int, Mapping[str, Field]] = {}  # by the identity of those that they replace
        self._made: dict[int, Field] = {}
        for before, after in self.know(forms):
            known, made = before.fields or {}, after.fields or {}
            if known:
                self._added.append((known, {name: child for name, child in made.items() if name not in known}))

    def know(self, forms: Iterable[tuple[Field, Field]]) -> list[tuple[Field, Field]]:
        """Replace these shapes, and their copies, which share their fields; return the pairs."""
        pairs = list(forms)
        self._made |= {id(before): after for before, after in pairs}
        self._fields |= {id(before.fields): after.fields or {} for before, after in pairs}
        return pairs

    def of(self, field: Field | None) -> Field | None:
        """Return the shape with own fields; itself if it has none."""
        return self._of(field) if field is not None else None

    def _of(self, field: Field) -> Field:
        if field.fields is None and field.items is None:
            return field
        if id(field) not in self._made:
            fields = self._of_fields(field.fields) if field.fields is not None else None
            items = self._of(field.items) if field.items is not None else None
            changed = fields is not field.fields or items is not field.items
            self._made[id(field)] = field.but(fields=fields, items=items) if changed else field
        return self._made[id(field)]

    def _of_fields(self, fields: Mapping[str, Field]) -> Mapping[str, Field]:
        if id(fields) not in self._fields:
            self._fields[id(fields)] = fields  # the children of a tree contain their own shape
            made = {**{name: self._of(child) for name, child in fields.items()}, **self._own(fields)}
            if made.keys() != fields.keys() or any(made[name] is not child for name, child in fields.items()):
                self._fields[id(fields)] = made
        return self._fields[id(fields)]

    def _own(self, fields: Mapping[str, Field]) -> Mapping[str, Field]:
        for known, added in self._added:
            if all(fields.get(name) is child for name, child in known.items()):
                return added
        return {}
