"""`crud()` gives plain routes that say what they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plugins.api import (
    Collection,
    Menu,
    Message,
    Plugin,
    Request,
    array,
    boolean,
    conflicts,
    crud,
    money,
    obj,
    text,
    timestamp,
)
from plugins.api.errors import DUPLICATE, STALE
from plugins.boot.registry import load_plugins
from plugins.records.history import DELETED, DELETED_REFUSED, RECORD_CHANGE
from plugins.testing import Client, expect, serving
from tests.support.labels import labelled

AT = "/api/v1/acme/boxes"
BOXES = Collection(
    name="acme_boxes",
    title="Box",
    noun=Message("箱子", "box"),
    fields=labelled({"name": text(required=True), "mark": text(read_only=True)}),
)


async def own(req: Request) -> None:
    """A handler of somebody's own."""


def test_it_gives_the_seven_routes_of_a_resource() -> None:
    made = crud(BOXES, at=AT, resource="acme:box", noun="box", plural="boxes")
    assert [(f"{route.method} {route.path}", route.access, route.summary) for route in made] == [
        (f"GET {AT}", "acme:box:list", "List boxes"),
        (f"GET {AT}/{{id}}", "acme:box:read", "Read a box"),
        (f"POST {AT}", "acme:box:create", "Create a box"),
        (f"PATCH {AT}/{{id}}", "acme:box:update", "Change a box"),
        (f"DELETE {AT}/{{id}}", "acme:box:delete", "Delete a box"),
        (f"GET {AT}/{{id}}/history", "acme:box:read", "List the changes of a box"),
        (f"POST {AT}/{{id}}/restore", "acme:box:restore", "Restore a box"),
    ]


def test_its_shapes_are_those_of_the_collection() -> None:
    listed, read, create, update, delete, history, restore = crud(BOXES, at=AT, resource="acme:box", noun="box")
    assert (listed.paged, listed.query) == (True, {**BOXES.list_query, "deleted": DELETED})
    assert (history.paged, history.returns, restore.returns) == (True, RECORD_CHANGE, BOXES.read)
    assert (create.body, update.body, delete.body) == (BOXES.create, BOXES.update, None)
    assert [route.returns for route in (listed, read, create, update)] == [BOXES.read] * 4


def test_its_routes_name_the_collection() -> None:
    *made, restore = crud(BOXES, at=AT, resource="acme:box", noun="box")
    assert {route.collection for route in made} == {"acme_boxes"}
    assert restore.collection == ""  # its scope is that of deleted records


def test_its_writes_declare_their_conflicts() -> None:
    _, _, create, update, *_ = crud(BOXES, at=AT, resource="acme:box", noun="box")
    assert DUPLICATE in create.errors
    assert {DUPLICATE, STALE} <= set(update.errors)


def test_refusals_are_of_all_writes_and_of_single_actions() -> None:
    every, one = conflicts(Message("都", "Every"), Message("一", "One"))
    said = {"refusals": (every,), "refusals_of": {"delete": (one,)}, "events": ("acme.dated",)}
    made = crud(BOXES, at=AT, resource="acme:box", noun="box", **said)  # type: ignore[arg-type]  # one option of several types
    *others, restore = made
    assert [route.refusals for route in others] == [(DELETED_REFUSED,), (), (every,), (every,), (every, one), ()]
    assert restore.refusals[0] == every
    assert [route.events for route in made] == [(), (), *[("acme.dated",)] * 3, (), ("acme.dated",)]


def test_what_is_left_out_does_not_exist() -> None:
    made = crud(BOXES, at=AT, resource="acme:box", noun="box", only=("delete", "list"))
    assert [(route.method, route.path) for route in made] == [
        ("GET", AT),
        ("DELETE", f"{AT}/{{id}}"),
        ("POST", f"{AT}/{{id}}/restore"),
    ]


def test_history_and_restore_can_be_left_out() -> None:
    made = crud(BOXES, at=AT, resource="acme:box", noun="box", without=("history", "restore"))
    assert [route.path.rpartition("/")[2] for route in made] == ["boxes", "{id}", "boxes", "{id}", "{id}"]
    assert made[0].query == BOXES.list_query


def test_an_action_can_have_a_handler_of_its_own() -> None:
    made = crud(BOXES, at=AT, resource="acme:box", noun="box", create=own)
    assert [route.method for route in made if route.handler is own] == ["POST"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"only": ("list", "erase")},
        {"craete": own},
        {"refusals_of": {"craete": ()}},
        {"only": ("list",), "create": own},
        {"without": ("read",)},
    ],
)
def test_an_action_that_is_not_made_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="acme_boxes"):
        crud(BOXES, at=AT, resource="acme:box", noun="box", **wrong)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.gen_test(timeout=30)
async def test_a_default_is_stored_as_a_value_that_is_sent(mongodb_uri: str, tmp_path: Path) -> None:
    defaults = {"price": money(default=1.5, filter=True), "due_at": timestamp(default="2026-11-22T08:00:00+08:00")}
    lids = array(obj("BoxLid", {"name": text(required=True), "open": boolean(default=False)}))
    boxes = replace(BOXES, fields=labelled({"name": text(required=True), "lids": lids, **defaults}))
    title = Message("箱", "Boxes")
    acme = Plugin(
        name="acme",
        title=title,
        collections=(boxes,),
        menus=(Menu("acme", title, resource="acme:box"),),
        routes=crud(boxes, at=AT, resource="acme:box", noun="box"),
    )
    async with serving(mongodb_uri, tmp_path, plugins=[*load_plugins(("auth",)), acme]) as running:
        admin = await Client(running.url).log_in("admin")
        made = expect(await admin.post(AT, {"name": "first"}))
        assert (made["price"], made["due_at"]) == ("1.50", "2026-11-22T00:00:00.000Z")
        lidded = expect(await admin.patch(f"{AT}/{made['id']}", {"version": 1, "lids": [{"name": "a"}]}))
        assert lidded["lids"] == [{"name": "a", "open": False}]
        made = {**made, "lids": lidded["lids"], "version": 2, "updated_at": lidded["updated_at"]}
        assert expect(await admin.get(f"{AT}?price_from=1.50&price_to=1.50"))["items"] == [made]
