"""Checks of collections: whose they are, who keeps them, their tables, and the views that show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from handlers.data.collection import THE_USERS, Collection
from handlers.route import Route
from handlers.tables.handlers import Export, StartImport
from plugins.plugin import Plugin

OWNER_ID = "owner_id"  # the name by which every plugin and client knows the responsible person


def owner_problems(where: str, collection: Collection, known: Mapping[str, Collection]) -> Iterator[str]:
    """Yield a sentence for each fault in the owner of `collection`; `known` are all collections by name and alias."""
    if not collection.owner:
        field = collection.fields.get(OWNER_ID)
        if field is not None and not collection.plain:
            yield f'{where} has {OWNER_ID} and does not declare it: write owner="{OWNER_ID}".'
        return
    owner = collection.fields.get(collection.owner)
    if owner is None:
        yield f"{where} has the owner {collection.owner}, which is no field of it."
    elif owner.ref is None or known.get(owner.ref) is not known.get(THE_USERS):
        yield f"{where} has the owner {collection.owner}, which does not refer to {THE_USERS}."
    elif not owner.history:
        yield f"{where} has the owner {collection.owner}, whose changes its history would not show (history=False)."
    if collection.plain:
        yield f"{where} has an owner and is plain: only records with audit fields have a responsible department."
    if collection.scope_department != Collection.scope_department:
        yield f"{where} has an owner and rows by {collection.scope_department}: only one of them can say whose it is."


def keeper_problems(where: str, collection: Collection, known: Mapping[str, Collection]) -> Iterator[str]:
    """Yield a sentence for each fault; `known` are all collections by their names and aliases."""
    people = collection.fields.get(collection.keepers)
    target = collection.references.get(collection.keepers, "")
    if collection.keepers and (people is None or people.kind != "array" or known.get(target) != known.get(THE_USERS)):
        yield f"{where} has the keepers {collection.keepers}, which is no list of references to users among its fields."
    followed = known.get(collection.references.get(collection.follows, ""))
    if collection.follows and (followed is None or not followed.keepers):
        yield f"{where} follows {collection.follows}, which is no reference to records with keepers."


def table_problems(where: str, routes: Sequence[Route], every_route: Sequence[Route]) -> Iterator[str]:
    """Yield a sentence for each fault in the tables of some routes; `every_route` are those of all plugins."""
    bodies = {id(route.body) for route in every_route if route.method == "POST"}
    for route in routes:
        if isinstance(route.handler, StartImport):
            collection = route.handler.table.collection
            if id(collection.create) not in bodies:
                yield (
                    f"{where}: {route.path} imports {collection.name}, but no route creates one from its body; "
                    'leave the import out with only=("export",).'
                )
        if isinstance(route.handler, Export) and (name := route.handler.table.lines):
            lines = route.handler.table.collection.fields.get(name)
            if lines is None or lines.items is None or not lines.items.fields:
                yield f"{where}: {route.path} has the lines {name}, which is no list of objects."


def view_problems(plugin: Plugin, known: Sequence[Collection]) -> Iterator[str]:
    """Yield a sentence for each fault in the views of a plugin."""
    for view in plugin.views:
        where = f"Plugin {plugin.name}: view of {view.collection.name}"
        if view.collection not in known:
            yield f"{where}, a collection that no loaded plugin declares."
        about = [one for one in plugin.routes if one.collection == view.collection.name and one.body is not None]
        sent = {name for one in about for name in (one.body.fields if one.body is not None else None) or ()}
        grouped = Counter(name for names in (*view.groups.values(), *view.folded.values()) for name in names)
        shown = (name for made in view.makes for name in made.shows)
        for name in sorted(
            {*view.columns, *grouped, *(name.partition(".")[0] for name in view.widgets), view.due, *shown}
            - {""}
            - view.collection.all_fields.keys()
            - sent  # the forms of actions have them
        ):
            yield f"{where} names {name}, which is no field of it."
        for name in sorted(name for name, times in grouped.items() if times > 1):
            yield f"{where} has {name} in two groups."
        for heading in (*view.groups, *view.folded, *view.tabs):
            if not all(heading):
                given = " ".join(heading).strip() or "none"
                yield f"{where} has a heading that is not in Chinese and English: {given}."


def print_problems(plugin: Plugin) -> Iterator[str]:
    """Yield a sentence for each field that a paper names and its records do not have."""
    for one in plugin.prints:
        shown = one.printed.fields or {}
        lines = shown[one.lines].items if one.lines in shown else None
        faults = [name for name in one.names if name not in shown]
        faults += [f"{one.lines}.{name}" for name in one.columns if name not in ((lines and lines.fields) or {})]
        yield from (f"Plugin {plugin.name}: paper {one.name} names {name}, which is no field." for name in faults)
