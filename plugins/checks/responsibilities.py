"""What people are responsible for, by the declarations of plugins; and the checks of these.

When people leave, their holdings are handed over. So every reference to people that clients write must be a holding, or
records would keep naming people who have left.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping

from handlers.catalogue.responsibilities import Holding, derived_holdings
from handlers.data.collection import THE_USERS, Collection
from plugins.checks.collections import OWNER_ID
from plugins.plugin import Plugin


def holdings_of(plugin: Plugin, known: Mapping[str, Collection]) -> tuple[Holding, ...]:
    """Return the holdings that a plugin declares, and those that follow from the owners and keepers of its records.

    `known` are the collections of all plugins by name and alias.
    """
    declared = {(one.collection.name, one.field) for one in plugin.holdings}
    people = _people(known)
    derived = [one for collection in plugin.collections for one in derived_holdings(collection, people)]
    return (*plugin.holdings, *(one for one in derived if (one.collection.name, one.field) not in declared))


def _people(known: Mapping[str, Collection]) -> frozenset[str]:
    """Return the names by which a field refers to people."""
    return frozenset({THE_USERS, known[THE_USERS].name} if THE_USERS in known else {THE_USERS})


def holding_problems(plugin: Plugin, known: Mapping[str, Collection]) -> Iterator[str]:
    """Yield a sentence for each fault in the holdings of a plugin, and for each reference to people without one."""
    people = _people(known)
    declared: set[tuple[str, str]] = set()
    for holding in holdings_of(plugin, known):
        place = (holding.collection.name, holding.field)
        where = f"Plugin {plugin.name}: holding {holding.field} of {holding.collection.name}"
        if place in declared:
            yield f"{where} is declared twice."
        declared.add(place)
        if holding.collection not in plugin.collections:
            yield f"{where} is of a collection that the plugin does not declare."
        elif holding.link is None or holding.link.target not in people:
            yield f"{where} is no reference to people (ref=)."
        if not inspect.iscoroutinefunction(holding.move):
            yield f"{where}: move is no async function."
    for collection in plugin.collections:
        for link in () if collection.plain else collection.links:
            # `owner_problems` reports an owner that is not declared
            written = link.target in people and not link.read_only and link.path != OWNER_ID
            if written and (collection.name, link.path) not in declared:
                yield (
                    f"Plugin {plugin.name}: collection {collection.name}: {link.path} refers to people, and nothing "
                    "says who takes it over when one leaves. Add it to holdings=(Holding(…),); with stays=True where "
                    "the record is about the person themselves."
                )
