"""Checks of the fields that plugins declare on collections of others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from handlers.catalogue.custom_fields import MOST_FIELDS, MOST_FILTERS
from handlers.catalogue.extending import PREFIX, Extends
from handlers.data.collection import THE_DEPARTMENTS, THE_USERS, extended, named
from handlers.schema.fields import Field
from plugins.checks.labels import label_problems
from plugins.checks.references import reference_problems, required_by
from plugins.plugin import Plugin

_NAME = re.compile(rf"^{PREFIX}[a-z][a-z0-9]*(_[a-z0-9]+)*$")


def own_field_problems(plugins: Sequence[Plugin]) -> Iterator[str]:
    """Yield a sentence for each own field that cannot be, and for collections that get too many of them."""
    by_name = {plugin.name: plugin for plugin in plugins}
    owner = {name: plugin.name for plugin in plugins for name in named(plugin.collections)}
    taken: dict[tuple[str, str], str] = {}
    fields, filters = Counter[str](), Counter[str]()
    for plugin, one in ((each, one) for each in plugins for one in each.extends):
        name, where = one.collection.name, f"Plugin {plugin.name}: own fields on {one.collection.name}"
        required = required_by(plugin, by_name)
        if owner.get(name) not in required - {plugin.name} or one.collection.plain:
            yield f"{where}: only collections with versions, of plugins that this one requires, can have them."
        known = {alias for alias, whose in owner.items() if whose in required} | {THE_USERS, THE_DEPARTMENTS}
        yield from label_problems(where, extended(one.collection, one.fields))
        yield from reference_problems(where, replace(one.collection, fields=one.fields))
        for field, child in one.fields.items():
            fault = _fault(one, field, child, known)
            if fault or (name, field) in taken:
                yield f"{where}: {field} {fault or f'is declared by {taken[name, field]} too'}."
            taken[name, field] = plugin.name
            fields[name] += 1
            filters[name] += bool(child.filter)
    yield from _too_many("own fields", fields, MOST_FIELDS)
    yield from _too_many("own fields with filter=True", filters, MOST_FILTERS)


def _fault(one: Extends, name: str, field: Field, known: Container[str]) -> str:
    if not _NAME.match(name):
        return f"must begin with {PREFIX} and have small letters, digits and _"
    if name in one.collection.all_fields:
        return "is a field of the collection already"
    if field.search:
        return "has search=True: what lists search is stored with each record"
    if field.default is not None:
        return "has a default, which older records would not have"
    if field.ref and not field.ref_optional and field.ref not in known:
        return f"refers to {field.ref}, of a plugin that this one does not require: give it ref_optional=True"
    return ""


def _too_many(what: str, counts: Mapping[str, int], most: int) -> Iterator[str]:
    for name, count in counts.items():
        if count > most:
            yield f"Plugins declare {count} {what} on {name}; {most} are allowed."
