"""A plugin with own fields of every type on every collection that can have some, for tests of everything declared.

With the environment variable `TRADEWIND_TEST_OWN_FIELDS`, the tests that are made from the declarations have it among the
plugins: whatever they prove of declared fields they then prove of own ones. As a plugin of pytest this module leaves out
the cases that repeat others.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from inspect import isfunction

import pytest

from handlers.catalogue.custom_fields import TYPES, field_of
from handlers.catalogue.declarations import Catalogue
from handlers.catalogue.extending import Extends
from handlers.data.collection import Collection, named
from handlers.route import Route
from handlers.schema.fields import fields_in
from handlers.schema.messages import Message
from plugins.boot.registry import freeze
from plugins.plugin import Plugin
from plugins.system.custom_fields import extensible

WANTED = "TRADEWIND_TEST_OWN_FIELDS"
_PREFIX = "x_probe_"
FILTERED = ("day", "choice", "reference")  # a range, a set and an equality; no collection may have more


def extended(plugins: Sequence[Plugin]) -> Sequence[Plugin]:
    """These plugins and, if the environment asks for it, the one with own fields."""
    return [*plugins, _extending(plugins)] if os.environ.get(WANTED) else plugins


def _extending(plugins: Sequence[Plugin]) -> Plugin:
    catalogue = freeze(plugins, check=False)
    known = named(catalogue.collections.values())
    fields = {
        f"{_PREFIX}{type}": field_of(
            {
                "label": f"探测{type}",
                "label_en": f"Probed {type}",
                "type": type,
                "dictionary": "crm_customer_level",
                "target": "crm_customers",
                "required": False,
                "filterable": type in FILTERED,
            },
            known,
        ).but(example="A" if type == "choice" else None)
        for type in TYPES
    }
    return Plugin(
        name="probe_fields",
        title=Message("探测字段", "Probe fields"),
        requires=tuple(plugin.name for plugin in plugins),
        extends=tuple(Extends(one, fields) for one in extensible(catalogue)),
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep one case of each test for each way that own fields go through the product, and every test without cases.

    Of a test whose cases are fields, those of own fields are kept.
    """
    from tests.support.catalogue import CATALOGUE  # it may not be imported before pytest has loaded its plugins

    of_fields = {_test_of(item) for item in items if _PREFIX in item.name}
    first: dict[object, pytest.Item] = {}
    for item in items:
        about = _parameters_of(item)
        concerned = [one for one in about if isinstance(one, Route | Collection)]
        if _PREFIX in item.name:
            way = [one if isinstance(one, str) else getattr(one, "method", None) for one in about]
        elif _test_of(item) in of_fields or not all(_has_own_fields(one, CATALOGUE) for one in concerned):
            continue
        else:
            way = [*map(_way_of, about)]
        first.setdefault((_test_of(item), *way), item)
    kept = {*first.values()}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _test_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _parameters_of(item: pytest.Item) -> list[object]:
    """What a case is about: of a collection and its index, the collection."""
    case = getattr(item, "callspec", None)
    given = case.params.values() if case is not None else ()
    return [one[0] if isinstance(one, tuple) and one and isinstance(one[0], Collection) else one for one in given]


def _has_own_fields(part: Route | Collection, catalogue: Catalogue) -> bool:
    if isinstance(part, Collection):
        return any(name.startswith(_PREFIX) for name in part.fields)
    own = catalogue.collections.get(part.collection)
    paths = [path for shape in (part.body, part.returns) if shape is not None for path, _ in fields_in(shape)]
    return any(_PREFIX in path for path in (*paths, *part.query)) or (
        own is not None and _has_own_fields(own, catalogue)
    )


def _way_of(part: object) -> object:
    """What one case goes through that another does not: the code of a route, how a collection is stored and seen."""
    if isinstance(part, Collection):
        return part.ids, part.scoped, part.shared, part.owned, part.states is None
    if isinstance(part, Route):
        table = getattr(part.handler, "table", None)
        return getattr(part.handler, "__code__", type(part.handler)), getattr(table, "writer", None)
    return part if isinstance(part, str | int) or isfunction(part) else type(part)
