"""Plugins that do not fit together do not start: each problem has its sentence, and all are told at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from urllib.request import urlopen

import pytest

from plugins.api import (
    PUBLIC,
    Action,
    Approval,
    Collection,
    Dictionary,
    EnvironmentSettings,
    ErrorKind,
    Event,
    Extends,
    Field,
    Index,
    Job,
    Listener,
    Menu,
    Message,
    Option,
    Plugin,
    Refusal,
    Request,
    Route,
    Service,
    StateMachine,
    Transition,
    View,
    array,
    choice,
    conflicts,
    crud,
    integer,
    money,
    obj,
    object_id,
    route,
    tables,
    text,
    transitions,
)
from plugins.api.business import TERMS_ASKED, Debt, Due
from plugins.api.data import Migration, Stage
from plugins.api.events import DATA_RESET
from plugins.api.ports import Authenticator
from plugins.api.records import Holding, Item, Makes
from plugins.api.reports import Audit, ByTime, Dashboard, Difference, Figures, Piece, summed
from plugins.boot.registry import RegistryError, freeze, load_plugins
from tests.support.labels import labelled

AT = "/api/v1/acme/things"
TITLE = Message("东西", "Things")
LABEL = ("东西", "Thing")
CALL = {"method": "get", "url": f"{AT}/${{id}}/gone?all=true"}
GOOD = load_plugins(("auth",))
NOUN = Message("东西", "thing")
THINGS = Collection(name="acme_things", title="AcmeThing", noun=NOUN, fields=labelled({"name": text(required=True)}))


async def answer(req: Request) -> None:
    """A handler that does nothing."""


def stages(service: Service) -> list[Stage]:
    """No stage of a migration."""
    return []


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


def fields(**given: Field) -> Plugin:
    """A plugin whose collection has these fields, with labels, and no routes."""
    return things(fields=labelled(given))


def extending(given: Mapping[str, Field]) -> Plugin:
    """Another plugin that brings just these own fields on things."""
    return other(requires=("acme",), extends=(Extends(THINGS, labelled(given)),))


LIFE = StateMachine(
    "acme_thing",
    "new",
    {"new": TITLE, "worn": TITLE},
    {"wear": Transition("new", "worn"), "renew": Transition("worn", "new", TITLE)},
)


def replace_machine(machine: StateMachine) -> StateMachine:
    """Another machine of the same name."""
    return StateMachine(machine.name, machine.initial, machine.states, machine.transitions)


def living(action: Action, **options: object) -> Plugin:
    """A good plugin whose things have states, and this action."""
    collection = replace(THINGS, fields={**THINGS.fields, "status": LIFE.choice()}, states=LIFE)
    routes = (
        *crud(collection, at=AT, resource="acme:thing", noun="thing"),
        *transitions(collection, action, **options),  # type: ignore[arg-type]  # options of several types
    )
    return acme(collections=(collection,), routes=routes, biz_types={"THING": collection})


async def start_without_end(service: Service) -> AsyncIterator[None]:
    """What lacks its decorator."""
    yield


async def start_without_a_piece() -> AsyncIterator[Difference]:
    """A check that takes nothing."""
    for record in ():
        yield record


BROKEN_THINGS = replace(THINGS, fields=labelled({"size": integer(maximum=5, default=6)}))
SIGNED = Event("acme.thing.signed", thing=dict)


async def hear(service: Service, payload: Mapping[str, object]) -> None:
    """A listener that does nothing."""


async def work(service: Service) -> None:
    """A job that does nothing."""


async def wait_for_all(req: Request) -> None:
    """A handler that waits twice, once beside the event loop."""
    await asyncio.to_thread(lambda: time.sleep(0.1))
    time.sleep(0.1)  # that is the fault


async def fetch_for_all(service: Service) -> None:
    """A job that asks another server, once beside the event loop."""
    await asyncio.to_thread(urlopen, "https://elsewhere.example")
    urlopen("https://elsewhere.example")  # that is the fault


async def check(piece: Piece) -> AsyncIterator[Difference]:
    """A check that finds nothing."""
    for record in ():
        yield record


async def owed(piece: Piece) -> Mapping[object, Due]:
    """Records that owe nothing."""
    return {}


class OfTheCore(EnvironmentSettings):
    """Settings with a name that the core has."""

    port: int = 5


REFERRING = Collection(
    name="other_things",
    title="OtherThing",
    noun=NOUN,
    fields=labelled({"thing_id": object_id(ref="acme_things")}),
)
LATE = ErrorKind("other.late", 60002, 409, TITLE)
KEEPER = integer(ref="users", on_delete="keep")
KEPT = replace(THINGS, fields=labelled({"keeper_id": KEEPER}))


def kept(*holdings: Holding) -> Plugin:
    """A plugin whose things have a keeper, with these holdings of them."""
    return Plugin(name="acme", title=TITLE, collections=(KEPT,), holdings=holdings)


BROKEN: dict[str, tuple[Sequence[Plugin], str]] = {
    "another version of the plugin API": (
        [acme(api=2)],
        "Plugin acme is written for version 2 of plugins.api; this is version 1.",
    ),
    "reference to people that nobody takes over": (
        [fields(keeper_id=KEEPER)],
        "Plugin acme: collection acme_things: keeper_id refers to people, and nothing says who takes it over when one "
        "leaves. Add it to holdings=(Holding(…),); with stays=True where the record is about the person themselves.",
    ),
    "holding of another plugin's records": (
        [ACME, other(holdings=(Holding(THINGS, "name"),))],
        "Plugin other: holding name of acme_things is of a collection that the plugin does not declare.",
    ),
    "holding that is no reference to people": (
        [acme(holdings=(Holding(THINGS, "name"),))],
        "Plugin acme: holding name of acme_things is no reference to people (ref=).",
    ),
    "holding that is declared twice": (
        [kept(Holding(KEPT, "keeper_id"), Holding(KEPT, "keeper_id"))],
        "Plugin acme: holding keeper_id of acme_things is declared twice.",
    ),
    "holding that another function moves": (
        [kept(Holding(KEPT, "keeper_id", len))],  # type: ignore[arg-type]  # that is the fault
        "Plugin acme: holding keeper_id of acme_things: move is no async function.",
    ),
    "audit of another plugin's records": (
        [ACME, other(audits=(Audit("other-things", TITLE, THINGS, check),))],
        "Plugin other: audit other-things is of acme_things, a collection that the plugin does not declare.",
    ),
    "migration without its month": (
        [acme(migrations=(Migration("widths", "Things get widths.", stages),))],
        "Plugin acme: migration widths must be called by its month and its subject, as 2026-11-open-items.",
    ),
    "migration that does not say what it does": (
        [acme(migrations=(Migration("2026-11-widths", "widths", stages),))],
        "Plugin acme: migration 2026-11-widths must say what it does, in a sentence.",
    ),
    "migration before an earlier one": (
        [acme(migrations=(Migration("2026-12-widths", "A.", stages), Migration("2026-11-heights", "B.", stages)))],
        "Plugin acme: migration 2026-11-heights stands behind one of 2026-12: new ones come last.",
    ),
    "migration that takes no service": (
        # the type is the fault
        [acme(migrations=(Migration("2026-11-widths", "A.", lambda: ()),))],  # type: ignore[arg-type,misc]
        "Plugin acme: migration 2026-11-widths: stages must take a service.",
    ),
    "migration that is declared twice": (
        [
            acme(migrations=(Migration("2026-11-a", "A.", stages),)),
            other(migrations=(Migration("2026-11-a", "A.", stages),)),
        ],
        "Plugin other declares the migration 2026-11-a, which is declared by acme too.",
    ),
    "view of a field that there is not": (
        [acme(views=(View(THINGS, columns=("name", "colour"), groups={LABEL: ("name",)}),))],
        "Plugin acme: view of acme_things names colour, which is no field of it.",
    ),
    "view with a field in two groups": (
        [acme(views=(View(THINGS, groups={LABEL: ("name",), ("二", "Two"): ("name",)}),))],
        "Plugin acme: view of acme_things has name in two groups.",
    ),
    "view with an English heading only": (
        [acme(views=(View(THINGS, tabs={("", "Guide"): {}}),))],
        "Plugin acme: view of acme_things has a heading that is not in Chinese and English: Guide.",
    ),
    "view of what nobody declares": (
        [acme(collections=(), routes=(), menus=(), biz_types={}, views=(View(THINGS),))],
        "Plugin acme: view of acme_things, a collection that no loaded plugin declares.",
    ),
    "two views of one collection": (
        [acme(views=(View(THINGS),)), other(views=(View(THINGS),))],
        "Plugin other declares the view acme_things, which is declared by acme too.",
    ),
    "audit without the plugin's name": (
        [acme(audits=(Audit("things", TITLE, THINGS, check),))],
        "Plugin acme: audit things must be called acme-…, in small letters, digits and hyphens.",
    ),
    "audit without a Chinese title": (
        [acme(audits=(Audit("acme-things", Message("", "Things"), THINGS, check),))],
        "Plugin acme: audit acme-things has no title in Chinese and English.",
    ),
    "audit that is no generator": (
        [acme(audits=(Audit("acme-things", TITLE, THINGS, owed),))],  # type: ignore[arg-type]  # that is the fault
        "Plugin acme: audit acme-things: check is no async generator function.",
    ),
    "audit that takes no piece": (
        # the type is the fault
        [acme(audits=(Audit("acme-things", TITLE, THINGS, start_without_a_piece),))],  # type: ignore[arg-type]
        "Plugin acme: audit acme-things: check must take a piece.",
    ),
    "audit that is declared twice": (
        [acme(audits=(Audit("acme-things", TITLE, THINGS, check), Audit("acme-things", TITLE, THINGS, check)))],
        "Plugin acme declares the audit acme-things, which is declared twice by itself.",
    ),
    "debt of an unknown business type": (
        [acme(debts=(Debt("HIRE", owed),))],
        "Plugin acme: debt of HIRE is of a business type that the plugin does not declare.",
    ),
    "debt that is no coroutine": (
        [acme(debts=(Debt("THING", check),))],  # type: ignore[arg-type]  # that is the fault
        "Plugin acme: debt of THING: compute is no async function.",
    ),
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
        [fields(other_id=integer(ref="nowhere_people"))],
        "Plugin acme: collection acme_things: other_id refers to nowhere_people, a collection that no loaded plugin declares.",
    ),
    "field without a label": (
        [things(fields={"name": text(), "lines": array(obj(None, {"sku": text()}), label=("明细", "Lines"))})],
        "Plugin acme: collection acme_things has no label for name, lines[].sku; "
        'a field takes label=("客户名称", "Customer name").',
    ),
    "label without Chinese": (
        [fields(name=text(label=("", "Name")))],
        "Plugin acme: collection acme_things has no Chinese label for name; "
        'a field takes label=("客户名称", "Customer name").',
    ),
    "label without English": (
        [things(fields={"name": text(label=("名称", ""))})],
        "Plugin acme: collection acme_things has no English label for name; "
        'a field takes label=("客户名称", "Customer name").',
    ),
    "label of two fields": (
        [fields(name=text(label=("名称", "Name")), colour=text(label=("名称", "Colour")))],
        "Plugin acme: collection acme_things: colour and name have the same label 名称.",
    ),
    "label that the core has given": (
        [fields(made_at=text(label=("制造时间", "Created at")))],
        "Plugin acme: collection acme_things: created_at and made_at have the same label Created at.",
    ),
    "collection without a noun": (
        [things(noun=Message("", "thing"))],
        "Plugin acme: collection acme_things has no noun in Chinese and English, "
        'such as noun=Message("客户", "customer").',
    ),
    "label that is no field": (
        [things(label="colour")],
        "Plugin acme: collection acme_things has the label colour, which is no field of it.",
    ),
    "code that is no field": (
        [things(code="colour")],
        "Plugin acme: collection acme_things has the code colour, which is no field of it.",
    ),
    "alias that another collection has": (
        [ACME, other(collections=(replace(THINGS, name="other_things", title="Other", alias="acme_things"),))],
        "Plugin other declares the collection acme_things, which is declared by acme too.",
    ),
    "list that is named by no reference": (
        [
            things(
                fields={
                    "parts": array(
                        obj(None, {"colour": text(label=("颜色", "Colour"))}),
                        label=("部件", "Parts"),
                        named_by="colour",
                    )
                }
            )
        ],
        "Plugin acme: collection acme_things: parts is named by colour, which is no reference in its objects.",
    ),
    "pattern that clients cannot compile": (
        [other(routes=(get(AT, query={"name": text(pattern=r"[\"]")}),))],
        f"Plugin other: route GET {AT}: the pattern of name is none that clients can compile (ECMA-262, flag u): Invalid character escape.",
    ),
    "handler that is not asynchronous": (
        [other(routes=(replace(get(AT), handler=lambda req: None),))],
        f"Plugin other: route GET {AT} has a handler that is no async function.",
    ),
    "preparation that is not asynchronous": (
        [other(prepare=lambda service: None)],
        "Plugin other: prepare is no async function.",
    ),
    "part of a dashboard that is not asynchronous": (
        [other(dashboards=(Dashboard("others", lambda req: {}),))],
        "Plugin other: the part of dashboard others is no async function.",
    ),
    "start that is no context manager": (
        [other(start=start_without_end)],
        "Plugin other: start is no context manager; decorate it with contextlib.asynccontextmanager.",
    ),
    "default of a field": (
        [fields(name=integer(default="x"))],
        "Plugin acme: collection acme_things: the default of name is none that its own shape allows.",
    ),
    "default of an amount": (
        [fields(price=money(default=1.555))],
        "Plugin acme: collection acme_things: the default of price is none that its own shape allows.",
    ),
    "default inside a list": (
        [fields(lines=array(obj(None, {"colour": choice("red", default="blue")})))],
        "Plugin acme: collection acme_things: the default of lines[].colour is none that its own shape allows.",
    ),
    "default of a body that is its collection's too": (
        [
            acme(
                collections=(BROKEN_THINGS,),
                biz_types={},
                routes=crud(BROKEN_THINGS, at=AT, resource="acme:thing", noun="thing"),
            )
        ],
        "Plugin acme: collection acme_things: the default of size is none that its own shape allows.",
    ),
    "default of a query": (
        [other(routes=(get(AT, query={"size": integer(maximum=5, default=6)}),))],
        f"Plugin other: route GET {AT}: the default of size is none that its own shape allows.",
    ),
    "routes of a collection that is not declared": (
        [
            acme(
                collections=(),
                biz_types={},
                routes=crud(THINGS, at=AT, resource="acme:thing", noun="thing", only=("list",)),
            )
        ],
        f"Plugin acme: route GET {AT} is about the collection acme_things, which no loaded plugin declares.",
    ),
    "business type of a collection that is not declared": (
        [other(biz_types={"THING": THINGS})],
        "Plugin other: business type THING is the collection acme_things, which no loaded plugin declares.",
    ),
    "error with an odd code": (
        [other(errors=(ErrorKind("other.late", 7, 409, TITLE),))],
        "Plugin other: error other.late has the code 7, which has not five digits.",
    ),
    "error with the status of a success": (
        [other(errors=(ErrorKind("other.late", 60002, 200, TITLE),))],
        "Plugin other: error other.late has the status 200, which is none of an error: 400 to 599.",
    ),
    "error of a route that is not declared": (
        [other(routes=(get(AT, errors=(LATE,)),))],
        f"Plugin other: route GET {AT} may respond with the error other.late, which no loaded plugin declares in its errors.",
    ),
    "refusal of a route that is not declared": (
        [other(routes=(get(AT, refusals=(Refusal(LATE), Refusal(LATE))),))],
        f"Plugin other: route GET {AT} may respond with the error other.late, which no loaded plugin declares in its errors.",
    ),
    "state machine that leads to nowhere": (
        [other(state_machines=(StateMachine("other_thing", "new", {"new": TITLE}, {"end": (("new",), "over")}),))],
        "Plugin other: state machine other_thing: end leads from or to over, which is none of its states.",
    ),
    "state machine that begins nowhere": (
        [other(state_machines=(StateMachine("other_thing", "none", {"new": TITLE}, {}),))],
        "Plugin other: state machine other_thing begins with none, which is none of its states.",
    ),
    "state machine that is done in no state": (
        [other(state_machines=(StateMachine("other_thing", "new", {"new": TITLE}, {}, done=("over",)),))],
        "Plugin other: state machine other_thing is done or refused in over, which is none of its states.",
    ),
    "event that nobody emits": (
        [ACME, other(listens=(Listener(SIGNED, hear),))],
        "Plugin other listens for acme.thing.signed, which no loaded plugin emits.",
    ),
    "question that is answered by an event": (
        [other(listens=(Listener(TERMS_ASKED, hear),))],
        "Plugin other listens for finance.terms.asked, which is asked by a port of plugins.api.business: provide it.",
    ),
    "event of two kinds": (
        [acme(emits=(SIGNED,)), other(listens=(Listener(Event("acme.thing.signed", thing=str), hear),))],
        "Plugin other declares the event acme.thing.signed with other fields than plugin acme.",
    ),
    "event of the core of another kind": (
        [other(emits=(Event("system.data_reset"),))],
        "Plugin other declares the event system.data_reset with other fields than the core.",
    ),
    "event that is emitted and not declared": (
        [other(routes=(get(AT, events=(SIGNED,)),))],
        f"Plugin other: route GET {AT} emits acme.thing.signed, which is not in the emits of the plugin.",
    ),
    "listener that is not asynchronous": (
        [acme(listens=(Listener(SIGNED, lambda service, payload: None),))],
        "Plugin acme: its listener for acme.thing.signed is no async function.",
    ),
    "listener with another number of parameters": (
        [acme(listens=(Listener(SIGNED, work),))],  # type: ignore[arg-type]  # wrong on purpose
        "Plugin acme: its listener for acme.thing.signed must take service and payload.",
    ),
    "job that is not asynchronous": (
        [other(jobs=(Job("other.sweep", 5, lambda service: None),))],
        "Plugin other: job other.sweep is no async function.",
    ),
    "job with another number of parameters": (
        [other(jobs=(Job("other.sweep", 5, hear),))],  # type: ignore[arg-type]  # wrong on purpose
        "Plugin other: job other.sweep must take service.",
    ),
    "job with a period that is no setting": (
        [other(jobs=(Job("other.sweep", "sweep_seconds", work),))],
        "Plugin other: job other.sweep runs every sweep_seconds, which is no setting of the plugin.",
    ),
    "job without a period": (
        [other(jobs=(Job("other.sweep", 0, work),))],
        "Plugin other: job other.sweep runs every 0 seconds, which must be more than 0.",
    ),
    "job of another plugin": (
        [acme(jobs=(Job("acme.sweep", 5, work),)), other(jobs=(Job("acme.sweep", 5, work),))],
        "Plugin other declares the job acme.sweep, which is declared by acme too.",
    ),
    "state machine whose states nothing leads to": (
        [other(state_machines=(StateMachine("other_thing", "new", {"new": TITLE, "old": TITLE}, {}),))],
        "Plugin other: state machine other_thing never comes to old: no action leads there from new.",
    ),
    "state without an English label": (
        [other(state_machines=(StateMachine("other_thing", "new", {"new": ("新",)}, {}),))],  # type: ignore[dict-item]  # wrong on purpose
        "Plugin other: state machine other_thing has no English label for the state new.",
    ),
    "action without a Chinese label": (
        [
            other(
                state_machines=(
                    StateMachine(
                        "other_thing", "new", {"new": TITLE}, {"renew": Transition("new", "new", ("", "Renew"))}
                    ),
                )
            )
        ],
        "Plugin other: state machine other_thing has no Chinese label for the action renew.",
    ),
    "state machine of another": (
        [acme(state_machines=(LIFE,)), other(state_machines=(replace_machine(LIFE),))],
        "Plugin other declares the state machine acme_thing, which is declared by acme too.",
    ),
    "states without a field": (
        [things(states=LIFE)],
        "Plugin acme: collection acme_things has the states of acme_thing, but no field status that holds them.",
    ),
    "field with other values than the states": (
        [things(states=LIFE, fields=labelled({"name": text(required=True), "status": choice("new", "gone")}))],
        "Plugin acme: collection acme_things: status has other values than the states of acme_thing.",
    ),
    "action of a route without a label": (
        [living(Action(f"POST {AT}/{{id}}/wear", access="acme:thing:wear"))],
        f"Plugin acme: route POST {AT}/{{id}}/wear does wear, which has no label.",
    ),
    "approval of what is no business type": (
        [
            replace(
                living(
                    Action(f"POST {AT}/{{id}}/renew", access="acme:thing:renew"),
                    approval=Approval("renew", "renew", "renew", "renew"),
                ),
                biz_types={},
            )
        ],
        f"Plugin acme: route POST {AT}/{{id}}/renew asks for approval, but acme_things is no business type of the plugin.",
    ),
    "field that the core writes": (
        [fields(version=text())],
        "Plugin acme: collection acme_things has a field called version, which the core writes itself.",
    ),
    "field that the core sorts by": (
        [fields(name=text(sort="folded", search=True), name_order=text())],
        "Plugin acme: collection acme_things has a field called name_order, which the core writes itself.",
    ),
    "folded order of what is not searched": (
        [fields(name=text(sort="folded"))],
        'Plugin acme: collection acme_things: name has sort="folded", which is for texts that are searched too.',
    ),
    "folded order of numbers": (
        [fields(size=integer(sort="folded"))],
        'Plugin acme: collection acme_things: size has sort="folded", which is for texts that are searched too.',
    ),
    "past that is no time": (
        [fields(name=text(past=True))],
        "Plugin acme: collection acme_things: name is past, which is for days and timestamps.",
    ),
    "rule of a deletion for what is no reference": (
        [things(fields={"name": text(label=LABEL, on_delete="clear")})],
        "Plugin acme: collection acme_things: name has on_delete, which is for references (ref=).",
    ),
    "message of a deletion for what is no reference": (
        [things(fields={"name": text(label=LABEL, held=TITLE)})],
        "Plugin acme: collection acme_things: name has held, which is for references (ref=).",
    ),
    "unknown rule of a deletion": (
        [things(fields={"other_id": object_id(label=LABEL, ref="acme_things", on_delete="forget")})],  # type: ignore[arg-type]  # wrong on purpose
        "Plugin acme: collection acme_things: other_id has on_delete='forget', which is none of "
        "restrict, cascade, clear, keep.",
    ),
    "message of a deletion that is not refused": (
        [things(fields={"other_id": object_id(label=LABEL, ref="acme_things", on_delete="cascade", held=TITLE)})],
        "Plugin acme: collection acme_things: other_id has the message held, which is for "
        'on_delete="restrict", and its rule is cascade.',
    ),
    "reference that cannot be cleared": (
        [things(fields={"other_id": object_id(label=LABEL, ref="acme_things", on_delete="clear", required=True)})],
        'Plugin acme: collection acme_things: other_id has on_delete="clear", but it cannot be empty.',
    ),
    "reference in lines that cannot be cleared": (
        [
            things(
                fields={
                    "lines": array(
                        obj(None, {"other_id": object_id(label=LABEL, ref="acme_things", on_delete="clear")}),
                        label=LABEL,
                    )
                }
            )
        ],
        'Plugin acme: collection acme_things: lines.other_id has on_delete="clear", but it cannot be empty.',
    ),
    "cascade into a plain collection": (
        [
            acme(
                collections=(
                    THINGS,
                    Collection(
                        name="acme_lines",
                        title="AcmeLine",
                        noun=TITLE,
                        plain=True,
                        default_sort="id",
                        fields={"thing_id": object_id(label=LABEL, ref="acme_things", on_delete="cascade")},
                    ),
                )
            )
        ],
        'Plugin acme: collection acme_lines: thing_id has on_delete="cascade", but the collection is plain: '
        "it has no soft delete and no versions.",
    ),
    "records that hold each other": (
        [
            acme(
                biz_types={},
                collections=(
                    replace(THINGS, fields={"line_id": object_id(label=LABEL, ref="acme_lines", required=True)}),
                    Collection(
                        name="acme_lines",
                        title="AcmeLine",
                        noun=TITLE,
                        fields={
                            "thing_id": object_id(label=LABEL, ref="acme_things", on_delete="restrict", read_only=True)
                        },
                    ),
                ),
            )
        ],
        "Collections restrict each other's deletion in a circle: acme_lines → acme_things → acme_lines. "
        'None of their records could ever be deleted: give one of the references on_delete="clear" or "cascade".',
    ),
    "keepers that are no people": (
        [things(fields={"name": text(label=LABEL)}, keepers="name")],
        "Plugin acme: collection acme_things has the keepers name, which is no list of references to users "
        "among its fields.",
    ),
    "rows that follow records without keepers": (
        [things(fields={"other_id": object_id(label=LABEL, ref="acme_things")}, follows="other_id")],
        "Plugin acme: collection acme_things follows other_id, which is no reference to records with keepers.",
    ),
    "dictionary that nobody declares": (
        [fields(name=text(dictionary="acme_kind"))],
        "Plugin acme: collection acme_things: name has the dictionary acme_kind, which no loaded plugin declares.",
    ),
    "dictionary of numbers": (
        [fields(size=integer(dictionary="system_status"))],
        "Plugin acme: collection acme_things: size has the dictionary system_status, which is for texts and "
        "the keys of mappings.",
    ),
    "field called id": (
        [fields(id=text())],
        "Plugin acme: collection acme_things has a field called id, which the core writes itself.",
    ),
    "parameter in the path and in the query": (
        [other(routes=(get(f"{AT}/{{id}}", query={"id": text()}),))],
        f"Plugin other: route GET {AT}/{{id}} has id both in its path and in its query.",
    ),
    "title that is a text": (
        [acme(title="Acme")],
        "Plugin acme: title must be Message, and is a str.",
    ),
    "title of a menu that is a text": (
        [other(menus=(Menu("other", "Other"),))],  # type: ignore[arg-type]
        "Plugin other: menu other: title must be Message, and is a str.",
    ),
    "label of an item that is a text": (
        [other(dictionaries=(Dictionary("other_kind", TITLE, (Item("a", "A"),)),))],  # type: ignore[arg-type]
        "Plugin other: dictionary other_kind: label must be Message, and is a str.",
    ),
    "collection in place of a tuple": (
        [other(collections=THINGS)],
        "Plugin other: collections must be tuple[Collection, ...], and is a Collection.",
    ),
    "text in place of a tuple": (
        [other(requires="rbac")],
        "Plugin other: requires must be tuple[str, ...], and is a str.",
    ),
    "something else in a tuple": (
        [other(routes=(get(AT), None))],
        "Plugin other: routes must be tuple[Route, ...], and holds None.",
    ),
    "something else in a mapping": (
        [other(permissions={"other:thing:sign": "Sign"})],
        "Plugin other: permissions must be Mapping[str, Message], and holds a str.",
    ),
    "code of an error that is a text": (
        [other(errors=(ErrorKind("other.late", "60002", 409, TITLE),))],  # type: ignore[arg-type]
        "Plugin other: error other.late: code must be int, and is a str.",
    ),
    "handler that is none": (
        [other(routes=(replace(get(AT), handler=None),))],  # type: ignore[arg-type]
        f"Plugin other: route GET {AT}: handler must be a function, and is None.",
    ),
    "class of settings that is another": (
        [other(settings=int)],
        "Plugin other: settings must be type[EnvironmentSettings] | None, and is a type.",
    ),
    "owner that is not declared": (
        [things(fields=labelled({"name": text(required=True), "owner_id": integer(ref="users")}))],
        'Plugin acme: collection acme_things has owner_id and does not declare it: write owner="owner_id".',
    ),
    "owner that is no field": (
        [things(owner="keeper_id")],
        "Plugin acme: collection acme_things has the owner keeper_id, which is no field of it.",
    ),
    "owner that is no person": (
        [things(owner="name")],
        "Plugin acme: collection acme_things has the owner name, which does not refer to users.",
    ),
    "owner beside other rows": (
        [
            things(
                owner="owner_id",
                scope_department="place_id",
                fields=labelled(
                    {
                        "name": text(required=True),
                        "owner_id": integer(ref="users"),
                        "place_id": integer(ref="departments"),
                    }
                ),
            )
        ],
        "Plugin acme: collection acme_things has an owner and rows by place_id: only one of them can say whose it is.",
    ),
    "setting of the core": (
        [other(settings=OfTheCore)],
        "Plugin other declares the setting port, which is declared by the core too.",
    ),
    "page of another plugin": (
        [
            acme(menus=(Menu("acme", TITLE, "/things", resource="acme:thing"),)),
            other(menus=(Menu("o", TITLE, "/things"),)),
        ],
        "Plugin other declares the menu path /things, which is declared by acme too.",
    ),
    "title of a permission that no route needs": (
        [acme(permissions={"acme:thing:sing": TITLE})],
        "Plugin acme: permissions has a title for acme:thing:sing, which no route needs.",
    ),
    "permission without a title": (
        [acme(routes=(*ACME.routes, get(f"{AT}/song", "acme:thing:sing")))],
        "Plugin acme: the permission acme:thing:sing has no title, which its button shows: "
        'add {"acme:thing:sing": Message(…)} to permissions.',
    ),
    "widget that the renderer lacks": (
        [acme(views=(View(THINGS, widgets={"name": {"type": "input-nmber"}}),))],
        "Plugin acme: view of acme_things: the widget of name has the type input-nmber, which the renderer does not "
        "know; did you mean input-number?",
    ),
    "tab that calls an unknown route": (
        [acme(views=(View(THINGS, tabs={LABEL: {"type": "wrapper", "body": [{"type": "crud", "api": CALL}]}}),))],
        f"Plugin acme: view of acme_things: the tab {' '.join(LABEL)} calls GET {AT}/${{id}}/gone?all=true, "
        "which no route answers.",
    ),
    "boxes of an unknown parameter": (
        [acme(views=(View(THINGS, boxes="bxo"),))],
        "Plugin acme: view of acme_things has the boxes bxo, which is no query parameter of a list of these records.",
    ),
    "calendar of a day that is no filter": (
        [acme(views=(View(THINGS, calendar=("day", "status")),))],
        "Plugin acme: view of acme_things has a calendar of day, by which no list of these records can be filtered.",
    ),
    "record made from another with an unknown field": (
        [acme(views=(View(THINGS, makes=(Makes(f"POST {AT}", {"colour": "red"}),)),))],
        f"Plugin acme: view of acme_things makes colour by POST {AT}, which takes no such field.",
    ),
    "handler that makes everybody wait": (
        [other(routes=(replace(get(AT), handler=wait_for_all),))],
        f"Plugin other: route GET {AT} calls time.sleep, during which the process answers nobody: await asyncio.sleep.",
    ),
    "hook of an action that makes everybody wait": (
        [living(Action(f"POST {AT}/{{id}}/renew", "acme:thing:update", before=wait_for_all))],  # type: ignore[arg-type]  # no coroutine
        f"Plugin acme: route POST {AT}/{{id}}/renew calls time.sleep, during which the process answers nobody: "
        "await asyncio.sleep.",
    ),
    "job that makes everybody wait": (
        [other(jobs=(Job("other.sweep", 5, fetch_for_all),))],
        "Plugin other: job other.sweep calls urllib.request.urlopen, during which the process answers nobody: "
        "await asyncio.to_thread(urllib.request.urlopen, …).",
    ),
    "reference to a plugin that is not required": (
        [ACME, other(collections=(REFERRING,))],
        "Plugin other: collection other_things: thing_id refers to acme_things, and the plugin does not require acme: "
        "add it to requires, or give the field ref_optional=True.",
    ),
    "default of what is required": (
        [fields(size=integer(required=True, default=6))],
        "Plugin acme: collection acme_things: size is required and has a default, which nothing could ever use.",
    ),
    "unique value that may be empty": (
        [things(indexes=(Index("colour", unique=True),), fields=labelled({"colour": text()}))],
        "Plugin acme: collection acme_things has a unique index on colour, which may be empty, in one record only: "
        'make it required, or add where={"colour": {"$type": "string"}} to the index.',
    ),
    "secret that responses contain": (
        [fields(password=text())],
        "Plugin acme: collection acme_things: password has the name of a secret, and responses contain it: "
        "give it secret=True.",
    ),
    "figure of an unknown field": (
        [acme(dashboards=(summed("acme", Figures(THINGS, {"amount": {"$sum": ["$amuont", 1]}})),))],
        "Plugin acme: the dashboard acme adds up amuont of acme_things, which is no field of it.",
    ),
    "rows of a figure by an unknown field": (
        [acme(dashboards=(summed("acme", Figures(THINGS, {"count": 1}, by=ByTime("maed_on", "month"))),))],
        "Plugin acme: the dashboard acme adds up maed_on of acme_things, which is no field of it.",
    ),
    "part of a dashboard that no route serves": (
        [acme(routes=(*ACME.routes, get("/api/dashboard/sales")), dashboards=(Dashboard("slaes", answer),))],  # type: ignore[arg-type]
        "Plugin acme: no route serves its part of the dashboard slaes; declare it with dashboard_route.",
    ),
    "own fields on a collection of a plugin that is not required": (
        [ACME, other(extends=(Extends(THINGS, labelled({"x_size": integer()})),))],
        "Plugin other: own fields on acme_things: only collections with versions, of plugins that this one requires, "
        "can have them.",
    ),
    "own field without its prefix": (
        [ACME, extending({"size": integer()})],
        "Plugin other: own fields on acme_things: size must begin with x_ and have small letters, digits and _.",
    ),
    "own field that is searched": (
        [ACME, extending({"x_size": text(search=True)})],
        "Plugin other: own fields on acme_things: x_size has search=True: what lists search is stored with each record.",
    ),
    "own field with a default": (
        [ACME, extending({"x_size": integer(default=1)})],
        "Plugin other: own fields on acme_things: x_size has a default, which older records would not have.",
    ),
    "own field that refers to records of a plugin that is not required": (
        [ACME, extending({"x_file": object_id(ref="files_objects")})],
        "Plugin other: own fields on acme_things: x_file refers to files_objects, of a plugin that this one does not "
        "require: give it ref_optional=True.",
    ),
    "own fields that lists filter by, one too many": (
        [ACME, extending({f"x_size{number}": integer(filter=True) for number in range(4)})],
        "Plugins declare 4 own fields with filter=True on acme_things; 3 are allowed.",
    ),
    "port that nobody provides": (
        [plugin for plugin in GOOD if plugin.name != "auth"],
        "No plugin provides Authenticator; load the plugins auth and rbac, or others that do.",
    ),
    "port that two provide": (
        [other(provides=(Authenticator,))],
        "Plugins auth and other both provide Authenticator.",
    ),
}


def problems(plugins: Sequence[Plugin]) -> list[str]:
    """What the registry says of these besides the good ones."""
    complete = plugins if plugins and plugins[0] in GOOD else [*GOOD, *plugins]
    try:
        freeze(complete)
    except RegistryError as refusal:
        return refusal.problems
    return []


def test_a_plugin_without_a_fault_is_taken() -> None:
    assert "acme" in freeze([*GOOD, ACME]).plugins


def test_a_page_for_browsers_may_be_outside_of_the_api() -> None:
    assert "other" in freeze([*GOOD, other(routes=(get("/things", bare="text/html"),))]).plugins


def test_an_import_of_records_that_no_route_creates_is_refused() -> None:
    routes = tables(THINGS, at=AT, resource="acme:thing")
    assert problems([acme(routes=(*routes, *crud(THINGS, at=AT, resource="acme:thing", only=("list",))))]) == [
        f"Plugin acme: {AT}/import imports acme_things, but no route creates one from its body; "
        'leave the import out with only=("export",).'
    ]


def test_lines_of_a_table_that_are_none_are_refused() -> None:
    routes = (*ACME.routes, *tables(THINGS, at=AT, resource="acme:thing", only=("export",), lines="name"))
    assert problems([acme(routes=routes)]) == [
        f"Plugin acme: {AT}/export has the lines name, which is no list of objects."
    ]


def test_a_broken_plugin_is_refused_with_its_sentence() -> None:
    told = {name: (problems(plugins), [sentence]) for name, (plugins, sentence) in BROKEN.items()}
    assert {name: said for name, (said, expected) in told.items() if said != expected} == {}


def decorated(handler: Callable[..., object]) -> Callable[..., object]:
    """A decorator that says what it wraps."""

    @wraps(handler)
    def wrapper(*given: object) -> object:
        return handler(*given)

    return wrapper


class Handling:
    """A handler that is an object."""

    async def __call__(self, req: Request) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    "handler", [partial(answer), decorated(answer), Handling()], ids=["partial", "decorated", "object"]
)
def test_handlers_may_be_wrapped(handler: Callable[..., object]) -> None:
    freeze([*GOOD, other(routes=(replace(get(AT), handler=handler),))])  # type: ignore[arg-type]


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
    [sentence] = problems([fields(name=text(pattern="("))])
    assert sentence.startswith("Plugin acme: collection acme_things has a schema that is no JSON Schema: ")


def test_two_shapes_with_one_name_are_refused() -> None:
    first, second = (get(f"{AT}/{n}", returns=obj("Shape", {n: text()})) for n in ("one", "two"))
    [sentence] = problems([other(routes=(first, second))])
    assert "Shape" in sentence


def test_all_problems_are_reported_together() -> None:
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


def test_an_event_of_a_plugin_that_need_not_be_loaded_is_accepted() -> None:
    freeze([*GOOD, acme(listens=(Listener(SIGNED, hear), Listener(DATA_RESET, hear)))])


def test_a_route_has_the_refusals_of_those_who_listen_to_its_events() -> None:
    asking = other(routes=(get(f"{AT}/asking", events=(SIGNED,)), get(f"{AT}/silent")), emits=(SIGNED,))
    answering = acme(listens=(Listener(SIGNED, hear, conflicts(TITLE)), Listener(DATA_RESET, hear, conflicts(NOUN))))
    found = {one.path: one.refusals for one in freeze([*GOOD, asking, answering]).routes}
    assert [one.message for one in found[f"{AT}/asking"]] == [TITLE]
    assert found[f"{AT}/silent"] == ()


def test_a_route_may_ask_though_nobody_listens() -> None:
    asking = other(routes=(get(f"{AT}/asking", events=(SIGNED,)),), emits=(SIGNED,))
    assert [one.refusals for one in freeze([*GOOD, asking]).routes if one.events] == [()]
