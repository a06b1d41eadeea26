"""What webhooks may name: the changes of records that can be read with a permission."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from plugins.api import Collection, Message, Route
from plugins.api.records import ACTION_TITLES, Catalogue

EVERYTHING = "*"
_ALL = Message("全部变更", "All changes")
_OF_EVERY_RECORD = ("create", "update", "delete")


def readers_of(catalogue: Catalogue) -> Mapping[str, tuple[Collection, Route]]:
    """Return the collections whose records can be read with a permission, and the routes that read one, by name."""
    found: dict[str, tuple[Collection, Route]] = {}
    for route in catalogue.routes:
        collection = catalogue.collections.get(route.collection)
        reads_one = route.method == "GET" and route.parameters == ("id",) and route.path.endswith("/{id}")
        if collection is not None and not collection.plain and reads_one and route.access.endswith(":read"):
            found.setdefault(collection.name, (collection, route))
    return found


def titles_of_events(catalogue: Catalogue) -> dict[str, Message]:
    """Return what people call the events that a webhook may name, such as `Contract: Submit` and `Contract: All changes`."""
    titles, routes = {EVERYTHING: _ALL}, defaultdict[str, list[Route]](list)
    for one in catalogue.routes:
        routes[one.collection].append(one)
    for name, (collection, _) in readers_of(catalogue).items():
        noun, actions = collection.noun, {EVERYTHING: _ALL, **{one: ACTION_TITLES[one] for one in _OF_EVERY_RECORD}}
        for one in routes[name]:
            if one.action and one.path.endswith(f"/{{id}}/{one.action}") and one.access.endswith(f":{one.action}"):
                actions[one.action] = catalogue.permission_title(one.access)
        machine = collection.states
        actions |= {one: machine.label_of(one) for one in machine.transitions} if machine is not None else {}
        for action, title in actions.items():
            said = Message(f"{noun.zh}：{title.zh}", f"{noun.en[:1].upper()}{noun.en[1:]}: {title.en}")
            titles[f"{name}.{action}"] = said
    return titles
