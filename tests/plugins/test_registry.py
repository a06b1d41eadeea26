"""Plugins that do not fit together do not start: each problem has its sentence, and all are told at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from plugins.api import (
    PUBLIC,
    Authenticator,
    Collection,
    Dictionary,
    ErrorKind,
    Index,
    Menu,
    Message,
    Option,
    Plugin,
    Request,
    Route,
    conflicts,
    crud,
    integer,
    obj,
    route,
    text,
)  # fmt: skip
from plugins.registry import RegistryError, freeze, load_plugins

ROOT = Path(__file__).resolve().parent.parent.parent
AT = "/api/v1/acme/things"
TITLE = Message("东西", "Things")
GOOD = load_plugins(("auth",))
THINGS = Collection(name="acme_things", title="AcmeThing", fields={"name": text(required=True)})


async def answer(req: Request) -> None:
    """A handler that does nothing."""


def get(path: str, access: str = PUBLIC, **options: object) -> Route:
    """A route that would do."""
    return route(f"GET {path}", answer, summary="Get a thing", access=access, **options)


ACME = Plugin(
    name="acme",
    title=TITLE,
    collections=(THINGS,),
    routes=crud(THINGS, at=AT, resource="acme:thing", noun="thing"),
    menus=(Menu("acme", TITLE, resource="acme:thing"),),
    errors=(ErrorKind("acme.worn_out", 60001, 409, TITLE, "worn out"),),
    dictionaries=(Dictionary("acme_kind", TITLE, ()),),
    biz_types={"THING": THINGS},
    options=(Option("acme_colour", text(default="red"), TITLE),),
)


def acme(**changes: object) -> Plugin:
    """A good plugin, but for these changes."""
    return replace(ACME, **changes)  # type: ignore[arg-type]


def other(**parts: object) -> Plugin:
    """Another plugin that brings just this."""
    return Plugin(name="other", title=TITLE, **parts)  # type: ignore[arg-type]


def things(**changes: object) -> Plugin:
    """A plugin whose collection has these changes, and no routes."""
    return Plugin(name="acme", title=TITLE, collections=(replace(THINGS, **changes),))  # type: ignore[arg-type]


BROKEN: dict[str, tuple[Sequence[Plugin], str]] = {
    "path of another plugin": (
        [ACME, other(routes=(get(AT),))],
        f"Plugin other declares the path and method GET {AT}, which is declared by acme too.",
    ),
    "path that differs in the name of its parameter": (
        [ACME, other(routes=(get(f"{AT}/{{thing_id}}"),))],
        f"Plugin other declares the path and method GET {AT}/{{}}, which is declared by acme too.",
    ),
    "path of the core": (
        [other(routes=(get("/api/health"),))],
        "Plugin other declares the path and method GET /api/health, which is declared by the core too.",
    ),
    "path given twice": (
        [other(routes=(get(AT), get(AT)))],
        f"Plugin other declares the path and method GET {AT}, which is declared twice by itself.",
    ),
    "path outside the API": (
        [other(routes=(get("/things"),))],
        "Plugin other: route GET /things has a path that does not begin with /api/ or has other characters than letters, digits, -, _, . and {}.",
    ),
    "method that is none": (
        [other(routes=(replace(get(AT), method="FETCH"),))],
        f"Plugin other: route FETCH {AT} has the method FETCH, which is none of GET, POST, PUT, PATCH, DELETE.",
    ),
    "collection of the core": (
        [Plugin(name="core", title=TITLE, collections=(replace(THINGS, name="core_operation_logs"),))],
        "Plugin core declares the collection core_operation_logs, which is declared by the core too.",
    ),
    "collection without the plugin's name": (
        [things(name="things")],
        "Plugin acme: collection things must be called acme_…, so that two plugins cannot clash.",
    ),
    "schema name of another plugin": (
        [ACME, other(collections=(replace(THINGS, name="other_things"),))],
        "Plugin other declares the schema name AcmeThing, which is declared by acme too.",
    ),
    "error code of another plugin": (
        [ACME, other(errors=(ErrorKind("other.late", 60001, 409, TITLE),))],
        "Plugin other declares the error code 60001, which is declared by acme too.",
    ),
    "error code of the core": (
        [other(errors=(ErrorKind("other.late", 40400, 404, TITLE),))],
        "Plugin other declares the error code 40400, which is declared by the core too.",
    ),
    "permission of another plugin": (
        [ACME, other(routes=(get("/api/v1/other", "acme:thing:list"),))],
        "Plugin other declares the permission code acme:thing:list, which is declared by acme too.",
    ),
    "menu of another plugin": (
        [ACME, other(menus=(Menu("acme", TITLE),))],
        "Plugin other declares the menu code acme, which is declared by acme too.",
    ),
    "dictionary of another plugin": (
        [ACME, other(dictionaries=(Dictionary("acme_kind", TITLE, ()),))],
        "Plugin other declares the dictionary acme_kind, which is declared by acme too.",
    ),
    "business type of another plugin": (
        [ACME, other(biz_types={"THING": THINGS})],
        "Plugin other declares the business type THING, which is declared by acme too.",
    ),
    "option of another plugin": (
        [ACME, other(options=(Option("acme_colour", text(), TITLE),))],
        "Plugin other declares the option acme_colour, which is declared by acme too.",
    ),
    "access left empty": (
        [other(routes=(get(AT, ""),))],
        f"Plugin other: route GET {AT} declares no access: it must be PUBLIC, SIGNED_IN, SUPER or a code <module>:<entity>:<action>.",
    ),
    "access that is no code": (
        [other(routes=(get(AT, "everybody"),))],
        f"Plugin other: route GET {AT} declares no access: it must be PUBLIC, SIGNED_IN, SUPER or a code <module>:<entity>:<action>.",
    ),
    "permission without a menu": (
        [acme(menus=(), routes=(get(AT, "acme:thing:list"),))],
        f"Plugin acme: route GET {AT} needs acme:thing:list, but no menu has the resource acme:thing: nobody could be granted it.",
    ),
    "menu without a route": (
        [acme(routes=())],
        "Plugin acme: menu acme shows acme:thing, but no route needs a permission of it.",
    ),
    "menu below a menu that is not there": (
        [other(menus=(Menu("other", TITLE, parent="nowhere"),))],
        "Plugin other: menu other has the parent nowhere, which no loaded plugin declares.",
    ),
    "index on an unknown field": (
        [things(indexes=(Index("name"), Index("-colour")))],
        "Plugin acme: collection acme_things has an index on colour, which is no field of it.",
    ),
    "sort by an unknown field": (
        [things(default_sort="-colour")],
        "Plugin acme: collection acme_things is sorted by -colour, which is no sortable field of it.",
    ),
    "sort by a field that is not sortable": (
        [things(default_sort="name")],
        "Plugin acme: collection acme_things is sorted by name, which is no sortable field of it.",
    ),
    "reference to an unknown collection": (
        [things(fields={"owner_id": integer(ref="nowhere_people")})],
        "Plugin acme: collection acme_things: owner_id refers to nowhere_people, a collection that no loaded plugin declares.",
    ),
    "pattern that clients cannot compile": (
        [other(routes=(get(AT, query={"name": text(pattern=r"[\"]")}),))],
        f"Plugin other: route GET {AT}: the pattern of name is none that clients can compile (ECMA-262, flag u): Invalid character escape.",
    ),
    "port that nobody provides": (
        [plugin for plugin in GOOD if plugin.name != "auth"],
        "No plugin provides Authenticator; load the plugins auth and rbac, or others that do.",
    ),
    "port that two provide": (
        [other(provides=(Authenticator,))],
        "Plugins auth and other both provide Authenticator.",
    ),
}  # fmt: skip


def problems(plugins: Sequence[Plugin]) -> list[str]:
    """What the registry says of these besides the good ones."""
    complete = plugins if plugins and plugins[0] in GOOD else [*GOOD, *plugins]
    with pytest.raises(RegistryError) as refusal:
        freeze(complete)
    return refusal.value.problems


def test_a_plugin_without_a_fault_is_taken() -> None:
    assert "acme" in freeze([*GOOD, ACME]).plugins


@pytest.mark.parametrize(("plugins", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_plugin_is_refused_with_its_sentence(plugins: Sequence[Plugin], sentence: str) -> None:
    assert problems(plugins) == [sentence]


def test_a_collection_of_another_plugin_is_refused() -> None:
    assert problems([ACME, other(collections=(replace(THINGS, title="OtherThing"),))]) == [
        "Plugin other declares the collection acme_things, which is declared by acme too.",
        "Plugin other: collection acme_things must be called other_…, so that two plugins cannot clash.",
    ]


@pytest.mark.parametrize("part", ["body", "query"])
def test_a_schema_that_is_none_is_refused(part: str) -> None:
    field = text(pattern="(")
    declared = {"body": obj("BrokenBody", {"name": field})} if part == "body" else {"query": {"name": field}}
    [sentence] = problems([other(routes=(replace(get(AT), **declared),))])
    assert sentence.startswith(f"Plugin other: route GET {AT} has a schema that is no JSON Schema: ")


def test_a_collection_whose_schema_is_none_is_refused() -> None:
    [sentence] = problems([things(fields={"name": text(pattern="(")})])
    assert sentence.startswith("Plugin acme: collection acme_things has a schema that is no JSON Schema: ")


def test_two_shapes_with_one_name_are_refused() -> None:
    first, second = (get(f"{AT}/{n}", returns=obj("Shape", {n: text()})) for n in ("one", "two"))
    [sentence] = problems([other(routes=(first, second))])
    assert "Shape" in sentence


def test_all_problems_are_told_together() -> None:
    # what fits together only once, such as the missing provider, would hide the others
    several = [name for name in BROKEN if name.startswith(("access", "index", "menu below", "error code of the core"))]
    plugins = [
        replace(plugin, name=f"{plugin.name}{i}") for i, name in enumerate(several) for plugin in BROKEN[name][0]
    ]
    found = "\n".join(problems(plugins))
    assert all(
        words in found for words in ("declares no access", "index on colour", "parent nowhere", "error code 40400")
    )


# -- refusals by listeners


def test_a_route_has_the_refusals_of_those_who_answer_what_it_asks() -> None:
    asking = other(routes=(get(f"{AT}/asking", asks=("acme.dated",)), get(f"{AT}/silent")))
    answering = acme(answers={"acme.dated": conflicts(TITLE), "acme.else": conflicts(Message("别的", "Else"))})
    found = {one.path: one.refusals for one in freeze([*GOOD, asking, answering]).routes}
    assert [one.told for one in found[f"{AT}/asking"]] == [TITLE]
    assert found[f"{AT}/silent"] == ()


def test_a_route_may_ask_though_nobody_answers() -> None:
    asking = other(routes=(get(f"{AT}/asking", asks=("acme.dated",)),))
    assert [one.refusals for one in freeze([*GOOD, asking]).routes if one.asks] == [()]
