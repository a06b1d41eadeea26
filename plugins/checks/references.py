"""Checks of references: finds rules for deletions that do nothing, cannot be followed, or forbid every deletion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import get_args

from handlers.data.collection import THE_DEPARTMENTS, THE_USERS, Collection, named
from handlers.data.references.links import Link
from handlers.schema.fields import OnDelete, fields_in
from plugins.plugin import Plugin

_RULES: Sequence[str] = get_args(OnDelete)


def reference_problems(where: str, collection: Collection) -> Iterator[str]:
    """Yield a sentence for each rule of `collection` that makes no sense for its field."""
    for path, field in fields_in(collection.read):
        if not field.ref and (field.on_delete or field.held):
            option = "on_delete" if field.on_delete else "held"
            yield f"{where}: {path} has {option}, which is for references (ref=)."
    for link in collection.links:
        fault = _fault(collection, link)
        if fault:
            yield f"{where}: {link.path} {fault}."


def _fault(collection: Collection, link: Link) -> str | None:
    if link.on_delete not in _RULES:
        return f"has on_delete={link.on_delete!r}, which is none of {', '.join(_RULES)}"
    if link.held is not None and link.on_delete != "restrict":
        return f'has the message held, which is for on_delete="restrict", and its rule is {link.on_delete}'
    if collection.plain and link.on_delete in ("cascade", "clear"):
        return f'has on_delete="{link.on_delete}", but the collection is plain: it has no soft delete and no versions'
    if link.on_delete == "clear" and not link.clearable:
        return 'has on_delete="clear", but it cannot be empty'
    return None


def requirement_problems(plugins: Sequence[Plugin]) -> Iterator[str]:
    """Yield a sentence for each reference to a plugin that is loaded by chance: its own does not require that one."""
    by_name = {plugin.name: plugin for plugin in plugins}
    owner = {name: plugin.name for plugin in plugins for name in named(plugin.collections)}
    for plugin in plugins:
        required = required_by(plugin, by_name)
        for collection in plugin.collections:
            for link in collection.links:
                other = owner.get(link.target, plugin.name)
                # the core itself refers to people and departments, whoever brings them
                if not (other in required or link.field.ref_optional or link.target in (THE_USERS, THE_DEPARTMENTS)):
                    yield (
                        f"Plugin {plugin.name}: collection {collection.name}: {link.path} refers to {link.target}, and "
                        f"the plugin does not require {other}: add it to requires, or give the field ref_optional=True."
                    )


def required_by(plugin: Plugin, by_name: Mapping[str, Plugin]) -> set[str]:
    """Return the names of a plugin and of those that it requires, directly or not."""
    found: set[str] = set()
    waiting = [plugin.name]
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in found:
            found.add(name)
            waiting += by_name[name].requires
    return found


def deletion_problems(collections: Sequence[Collection]) -> Iterator[str]:
    """Yield a sentence if records hold each other so that none of them could ever be deleted."""
    try:
        TopologicalSorter(_restrictions(collections)).prepare()
    except CycleError as error:
        circle = error.args[1][1:]
        first = circle.index(min(circle))
        names = [*circle[first:], *circle[: first + 1]]
        yield (
            f"Collections restrict each other's deletion in a circle: {' → '.join(names)}. "
            'None of their records could ever be deleted: give one of the references on_delete="clear" or "cascade".'
        )


def _restrictions(collections: Iterable[Collection]) -> Mapping[str, set[str]]:
    """Map each collection to those whose records it holds by references that clients cannot remove."""
    known = named(collections)
    return {
        collection.name: {
            known[link.target].name
            for link in collection.links
            if link.on_delete == "restrict" and link.fixed and link.target in known
        }
        for collection in known.values()
    }
