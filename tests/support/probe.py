"""A plugin of one collection with a field of every kind, and routes that wait, fail or move things."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from plugins.api import (
    CONFLICT,
    PUBLIC,
    SIGNED_IN,
    ApiError,
    Collection,
    Index,
    Menu,
    Message,
    Plugin,
    Refusal,
    Request,
    Service,
    anything,
    array,
    boolean,
    choice,
    crud,
    day,
    integer,
    money,
    number,
    obj,
    object_id,
    quantity,
    route,
    text,
    timestamp,
)
from tests.support.labels import labelled

AT = "/api/v1/probe"
WIDGETS_AT = f"{AT}/widgets"
INSIDE = "a sentence of the inside, with hunter2"

PART = obj("ProbePart", {"sku": text(required=True, max_length=20), "count": quantity(minimum="0", required=True)})

WIDGETS = Collection(
    name="probe_widgets",
    title="ProbeWidget",
    noun=Message("部件", "widget"),
    scoped=True,
    fields=labelled(
        {
            "name": text(required=True, max_length=200, sort=True, search=True),
            "batch": text(max_length=64, filter=True),
            "kind": choice("large", "medium", "small", sort=True, filter=True),
            "rank": integer(sort=True, filter=True),
            "weight": number(sort=True, filter=True),
            "active": boolean(sort=True, filter=True),
            "price": money(sort=True, filter=True),
            "stock": quantity(sort=True, filter=True),
            "due": day(sort=True, filter=True),
            "seen_at": timestamp(sort=True, filter=True),
            "model": object_id(sort=True, filter=True),
            "tags": array(text(max_length=50), unique=True, max_items=5, default=[], filter=True),
            "parts": array(PART, max_items=10),
            "notes": anything(),
        }
    ),
    indexes=(Index("batch", "-created_at"), Index("name", unique=True, where={"batch": "unique"})),
)


class Gate:
    """Holds requests until it is opened; `waiting` is the number of requests that it holds."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.waiting = 0


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Offer the gate."""
    service.provide(Gate, Gate())
    yield


async def wait(req: Request) -> dict[str, Any]:
    """Respond when the gate opens."""
    gate = req.part(Gate)
    gate.waiting += 1
    try:
        await gate.open.wait()
    finally:
        gate.waiting -= 1
    return {"waited": True}


async def swallow(req: Request) -> int:
    """How many bytes a body has, read when the gate is open."""
    await req.part(Gate).open.wait()
    return sum([len(piece) async for piece in req.stream])


async def fail(req: Request) -> None:
    """A bug."""
    raise RuntimeError(INSIDE)


async def make_two(req: Request) -> dict[str, Any]:
    """Two widgets in one transaction, of which the second may be refused."""
    store = req.store(WIDGETS)

    async def work() -> dict[str, Any]:
        first = await store.create({"name": req.body["first"], "batch": "unique"})
        await store.create({"name": req.body["second"], "batch": "unique"})
        if req.body.get("refuse"):
            raise ApiError(CONFLICT)
        return first

    return await req.transaction(work)


async def make_with_twins(req: Request) -> dict[str, Any]:
    """A widget, and a header with the number of others."""
    req.response_headers["X-Possible-Duplicates"] = "one,two"
    return await req.store(WIDGETS).create({"name": req.body["name"]})


async def replace(req: Request) -> dict[str, Any]:
    """Another version of a widget."""
    return await req.store(WIDGETS).update(req.path["id"], {"rank": req.body["rank"]}, version=req.body["version"])


async def close(req: Request) -> dict[str, Any]:
    """A widget that is inactive from now on; 40901 when it is already."""
    store = req.store(WIDGETS)
    found = await store.get(req.path["id"])
    if found["active"] is False:
        raise ApiError(CONFLICT)
    return await store.update(found["id"], {"active": False}, version=found["version"])


async def listen(req: Request) -> None:
    """Hear what the client says, to its end."""
    async for _ in req.socket:
        pass


async def echo_query(req: Request) -> str:
    """The query as it was understood."""
    return str(req.query["q"])


plugin = Plugin(
    name="probe",
    title=Message("探针", "Probe"),
    requires=("rbac",),
    start=start,
    collections=(WIDGETS,),
    routes=(
        *crud(WIDGETS, at=WIDGETS_AT, resource="probe:widget", noun="widget"),
        route(f"GET {AT}/wait", wait, summary="Wait", access=PUBLIC, returns=anything(), tag="probe"),
        route(
            f"POST {AT}/swallow",
            swallow,
            summary="Swallow",
            access=PUBLIC,
            streamed=True,
            returns=integer(),
            tag="probe",
        ),
        route(
            f"POST {AT}/fail",
            fail,
            summary="Fail",
            access=SIGNED_IN,
            body=obj("ProbeFail", {"password": text()}),
            tag="probe",
        ),
        route(
            f"GET {AT}/echo",
            echo_query,
            summary="Echo",
            access=PUBLIC,
            query={"q": text(max_length=100)},
            returns=text(),
            tag="probe",
        ),
        route(f"GET {AT}/talk", listen, summary="Talk", access=SIGNED_IN, tag="probe", socket=True),
        route(
            f"GET {AT}/things/{{id}}",
            wait,
            summary="A path with a parameter",
            access=SIGNED_IN,
            returns=anything(),
            tag="probe",
        ),
        route(
            f"PUT {AT}/things/{{id}}",
            replace,
            summary="Replace a widget",
            access="probe:widget:update",
            returns=WIDGETS.read,
            body=obj("ProbeReplace", {"rank": integer(required=True), "version": integer(required=True)}),
            tag="probe",
        ),
        route(
            f"POST {AT}/things/{{id}}/close",
            close,
            summary="Close a widget",
            access="probe:widget:update",
            returns=WIDGETS.read,
            refusals=(Refusal(CONFLICT),),
            tag="probe",
        ),
        route(
            f"POST {AT}/twins",
            make_with_twins,
            summary="Make a widget that has twins",
            access="probe:widget:create",
            returns=WIDGETS.read,
            body=obj("ProbeTwin", {"name": text(required=True)}),
            tag="probe",
        ),
        route(
            f"POST {AT}/pairs",
            make_two,
            summary="Make two widgets",
            access="probe:widget:create",
            returns=WIDGETS.read,
            body=obj("ProbePair", {"first": text(required=True), "second": text(required=True), "refuse": boolean()}),
            tag="probe",
            refusals=(Refusal(CONFLICT),),
        ),
    ),
    menus=(Menu("probe", Message("探针", "Probe"), path="/probe", resource="probe:widget"),),
)
