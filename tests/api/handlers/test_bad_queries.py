"""Query strings that are wrong: every parameter at fault is named (CONTRACT 1)."""

import base64
from urllib.parse import quote

import orjson
import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, expect
from tests.support.probe import WIDGETS_AT
from tests.support.refusals import nothing_written, refused

pytestmark = pytest.mark.gen_test

WRONG = {
    "page=0": {"page"},
    "page=-1": {"page"},
    "page=x": {"page"},
    "page=1.5": {"page"},
    "page=": {"page"},
    "page=1e3": {"page"},
    "page=%201": {"page"},
    "page=0x10": {"page"},
    "page=9007199254740992": {"page"},
    "page=99999999999999999999999": {"page"},
    "page=٣": {"page"},
    "weight_from=1_0": {"weight_from"},
    "weight_from=%D9%A3": {"weight_from"},
    "weight_from=Infinity": {"weight_from"},
    "weight_from=1e999": {"weight_from"},
    "weight_from=%201": {"weight_from"},
    "weight_from=0x10": {"weight_from"},
    "weight_from=": {"weight_from"},
    "page_size=0": {"page_size"},
    "page_size=201": {"page_size"},
    "page_size=-5": {"page_size"},
    "page=501&page_size=20": {"page"},
    "page=51&page_size=200": {"page"},
    "page=10001&page_size=1": {"page"},
    "page=9007199254740991&page_size=200": {"page"},
    "page=1&page=2": {"page"},
    "sort=$where": {"sort"},
    "sort=colour": {"sort"},
    "sort=name;drop": {"sort"},
    "sort=--name": {"sort"},
    "sort=name,name": {"sort"},
    "sort=name,-name": {"sort"},
    "sort=,": {"sort"},
    "sort=batch": {"sort"},
    "sort=_id": {"sort"},
    "sort=search_text": {"sort"},
    "sort=deleted": {"sort"},
    "sort=name.first": {"sort"},
    "name[$ne]=x": {"name[$ne]"},
    "batch[$ne]=x": {"batch[$ne]"},
    "batch.$ne=x": {"batch.$ne"},
    "$where=1": {"$where"},
    "$or=[]": {"$or"},
    "deleted=perhaps": {"deleted"},
    "creator_id[$gt]=0": {"creator_id[$gt]"},
    "batch=%00": {"batch"},
    "batch=a%00b": {"batch"},
    "kind=": {"kind"},
    "rank=,": {"rank"},
    "kind=huge": {"kind"},
    "kind=small,huge": {"kind"},
    "rank=x": {"rank"},
    "rank={%22$gt%22:0}": {"rank"},
    "rank=9007199254740993": {"rank"},
    "active=yes": {"active"},
    "active=1": {"active"},
    "price=1": {"price"},
    "price_from=much": {"price_from"},
    "price_from=1.005": {"price_from"},
    "weight_from=x": {"weight_from"},
    "weight_from=nan": {"weight_from"},
    "weight_from=inf": {"weight_from"},
    "due_from=2026-13-01": {"due_from"},
    "due_to=yesterday": {"due_to"},
    "seen_at_from=2026-11-20": {"seen_at_from"},
    "seen_at_from=2026-11-20T08:00:00": {"seen_at_from"},
    "seen_at_from=2026-11-20T08:00:00+08:00": {"seen_at_from"},
    "model=xyz": {"model"},
    "with_total=maybe": {"with_total"},
    "cursor=nonsense": {"cursor"},
    "q=%00": {"q"},
    f"q={'a' * 101}": {"q"},
    "colour=red&size=1": {"colour", "size"},
    "page=0&sort=x&colour=red": {"page", "colour"},
}


@pytest.mark.parametrize(("query", "fields"), WRONG.items())
async def test_every_parameter_at_fault_is_named(probe_admin: Client, query: str, fields: set[str]) -> None:
    reply = await probe_admin.get(f"{WIDGETS_AT}?{quote(query, safe='=&%[]$,+:;.{}')}")
    refused(reply, 40001)
    assert reply.fields == fields


@pytest.mark.parametrize("query", ["page=500&page_size=20", "page=50&page_size=200", "page=1&page_size=200"])
async def test_ten_thousand_rows_deep_is_as_far_as_pages_go(probe_admin: Client, query: str) -> None:
    expect(await probe_admin.get(f"{WIDGETS_AT}?{query}"))


async def test_a_fault_in_query_and_body_is_one_response(probed: Running, probe_admin: Client) -> None:
    async with nothing_written(probed):
        reply = await probe_admin.post(f"{WIDGETS_AT}?colour=red", {"name": 5})
    refused(reply, 40001)
    assert reply.fields == {"colour", "name"}


def cursor(value: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(value)).decode().rstrip("=")


ID = "0" * 24
FORGED = {
    "nothing": ("", []),
    "another order": ("name,_id", ["a", ID]),
    "too few values": ("-rank,-_id", [1]),
    "too many values": ("-rank,-_id", [1, ID, 1]),
    "text for a number": ("-rank,-_id", ["1", ID]),
    "an operator": ("-rank,-_id", [{"$gt": 0}, ID]),
    "an array": ("-rank,-_id", [[1], ID]),
    "a number beyond MongoDB": ("-rank,-_id", [2**64 - 1, ID]),
    "an identifier that is none": ("-rank,-_id", [1, "x"]),
    "an identifier that is an operator": ("-rank,-_id", [1, {"$ne": None}]),
    "no identifier": ("-rank,-_id", [1, None]),
}


@pytest.mark.parametrize(("order", "values"), FORGED.values(), ids=FORGED)
async def test_a_forged_cursor_is_refused(probe_admin: Client, order: str, values: list[object]) -> None:
    reply = await probe_admin.get(f"{WIDGETS_AT}?sort=-rank&cursor={cursor([order, values])}")
    refused(reply, 40001)
    assert reply.fields == {"cursor"}


@pytest.mark.parametrize("value", [None, 1, "ab", {}, {"a": 1, "b": 2}, [], ["-rank,-_id"], [["-rank,-_id"], [1, ID]]])
async def test_a_cursor_of_another_shape_is_refused(probe_admin: Client, value: object) -> None:
    refused(await probe_admin.get(f"{WIDGETS_AT}?sort=-rank&cursor={cursor(value)}"), 40001)


@pytest.mark.parametrize("field", ["price", "stock", "due", "seen_at", "model", "weight", "active", "kind", "name"])
@pytest.mark.parametrize("value", [2**64 - 1, -1, "\x00", "x", {"$gt": ""}, [], True, 1e300, "9" * 400])
async def test_no_value_of_a_cursor_is_too_strange(probe_admin: Client, field: str, value: object) -> None:
    reply = await probe_admin.get(f"{WIDGETS_AT}?sort={field}&cursor={cursor([f'{field},_id', [value, ID]])}")
    assert reply.status in (200, 400)
