"""Bodies that are wrong: refused with a clear 4xx in the envelope, and nothing is written (CONTRACT 1, 2, 13)."""

import gzip
import json
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, eventually, expect, unique
from tests.support.probe import WIDGETS_AT
from tests.support.raw_http import connected, exchange, request
from tests.support.refusals import nothing_written, refused

pytestmark = pytest.mark.gen_test

NOT_JSON = {
    "cut short": b'{"name": ',
    "two values": b'{"name": "a"} {"name": "b"}',
    "a trailing comma": b'{"name": "a",}',
    "single quotes": b"{'name': 'a'}",
    "a byte that is no UTF-8": b'{"name": "\xff"}',
    "half a surrogate pair": b'{"name": "\\ud800"}',
    "UTF-16": '{"name": "a"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"name": "a"}',
    "a bare NUL": b'{"name": "a\x00"}',
    "NaN": b'{"name": "a", "weight": NaN}',
    "an infinite number": b'{"name": "a", "weight": 1e400}',
    "only blanks": b"   ",
    "gzip": gzip.compress(b'{"name": "a"}'),
    "33 levels": b'{"name": "a", "notes": ' + b"[" * 32 + b"]" * 32 + b"}",
    "33 levels that never end": b"[" * 33,
    "33 levels of both kinds": b'{"a":[' * 17,
}
WRONG = {
    "an operator for a name": ({"name": {"$gt": ""}}, {"name"}),
    "a number for a name": ({"name": 5}, {"name"}),
    "null for a required name": ({"name": None}, {"name"}),
    "a blank name": ({"name": " \t"}, {"name"}),
    "a name that is too long": ({"name": "a" * 201}, {"name"}),
    "no name": ({"rank": 1}, {"name"}),
    "NUL in a name": ({"name": "a\x00b"}, {"name"}),
    "an unknown field": ({"name": "a", "colour": "red"}, {"colour"}),
    "a field of the service": ({"name": "a", "creator_id": 1, "deleted": True}, {"creator_id", "deleted"}),
    "an unknown field in an array": (
        {"name": "a", "parts": [{"sku": "s", "count": 1}, {"sku": "s", "count": 1, "x": 1}]},
        {"parts[1].x"},
    ),
    "a fault deep inside": ({"name": "a", "parts": [{"sku": "s", "count": "much"}]}, {"parts[0].count"}),
    "NUL deep inside": ({"name": "a", "parts": [{"sku": "\x00", "count": 1}]}, {"parts[0].sku"}),
    "a float for an integer": ({"name": "a", "rank": 1.5}, {"rank"}),
    "text for an integer": ({"name": "a", "rank": "1"}, {"rank"}),
    "true for an integer": ({"name": "a", "rank": True}, {"rank"}),
    "an integer that JavaScript cannot hold": ({"name": "a", "rank": 2**53}, {"rank"}),
    "a number that MongoDB cannot hold": ({"name": "a", "rank": 2**64 - 1}, {"rank"}),
    "text for a boolean": ({"name": "a", "active": "true"}, {"active"}),
    "a choice that is none": ({"name": "a", "kind": "huge"}, {"kind"}),
    "three decimals of money": ({"name": "a", "price": "1.005"}, {"price"}),
    "a float that is no amount": ({"name": "a", "price": 0.1 + 0.2}, {"price"}),
    "an enormous amount": ({"name": "a", "price": 1e300}, {"price"}),
    "an enormous negative amount": ({"name": "a", "stock": -1e300}, {"stock"}),
    "a float too large to tell its cents": ({"name": "a", "price": 123456789012345.68}, {"price"}),
    "a float too large to tell a third decimal": ({"name": "a", "price": 99999999999999.991}, {"price"}),
    "an amount of sixteen digits": ({"name": "a", "price": 10**15}, {"price"}),
    "words for money": ({"name": "a", "price": "NaN"}, {"price"}),
    "an exponent for money": ({"name": "a", "price": "1e2"}, {"price"}),
    "five decimals of a quantity": ({"name": "a", "stock": "0.00001"}, {"stock"}),
    "a day that does not exist": ({"name": "a", "due": "2026-02-30"}, {"due"}),
    "a day of the year 0": ({"name": "a", "due": "0000-01-01"}, {"due"}),
    "a moment without its offset": ({"name": "a", "seen_at": "2026-11-20T08:00:00"}, {"seen_at"}),
    "an identifier that is none": ({"name": "a", "model": "xyz"}, {"model"}),
    "the same tag twice": ({"name": "a", "tags": ["x", "x"]}, {"tags"}),
    "too many tags": ({"name": "a", "tags": [str(i) for i in range(6)]}, {"tags"}),
    "null in a list": ({"name": "a", "tags": [None]}, {"tags[0]"}),
    "everything at once": ({"rank": "x", "kind": "y", "z": 1}, {"name", "rank", "kind", "z"}),
    "NUL in a free name": ({"name": "a", "notes": {"x": {"a\x00b": 1}}}, {"notes"}),
    "NUL in a free text": ({"name": "a", "notes": ["a\x00b"]}, {"notes"}),
    "an operator in free content": ({"name": "a", "notes": {"$ref": "a", "$id": 1}}, {"notes"}),
    "a free number that MongoDB cannot hold": ({"name": "a", "notes": [{"x": 2**64 - 1}]}, {"notes"}),
}
MEDIA_TYPES = (
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/xml",
    "application/json; charset=latin-1",
    "application/json, text/html",
    "application/merge-patch+json",
    "",
)


@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON)
async def test_a_body_that_is_no_json_is_malformed(probed: Running, probe_admin: Client, body: bytes) -> None:
    async with nothing_written(probed):
        refused(await probe_admin.post(WIDGETS_AT, raw=body), 40000)


@pytest.mark.parametrize(("body", "fields"), WRONG.values(), ids=WRONG)
async def test_every_field_at_fault_is_named(
    probed: Running, probe_admin: Client, body: dict[str, Any], fields: set[str]
) -> None:
    async with nothing_written(probed):
        data = refused(await probe_admin.post(WIDGETS_AT, body), 40001)
    assert {error["field"] for error in data["errors"]} == fields


async def test_each_fault_says_its_rule_and_a_sentence(probe_admin: Client) -> None:
    body = {"name": "a", "colour": "red"}
    data = refused(await probe_admin.post(WIDGETS_AT, body, headers={"Accept-Language": "en"}), 40001)
    assert data == {"errors": [{"field": "colour", "rule": "unknown", "message": "is not a known field"}]}


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"1", b"null", b"true", b"[{}]"])
async def test_a_body_that_is_no_object_is_refused_as_a_whole(
    probed: Running, probe_admin: Client, body: bytes
) -> None:
    async with nothing_written(probed):
        data = refused(await probe_admin.post(WIDGETS_AT, raw=body), 40001)
    assert [(error["field"], error["rule"]) for error in data["errors"]] == [("body", "type")]


async def test_no_body_at_all_lacks_every_required_field(probe_admin: Client) -> None:
    reply = await probe_admin.post(WIDGETS_AT)
    refused(reply, 40001)
    assert reply.fields == {"name"}


async def test_a_body_on_a_route_that_takes_none_is_an_unknown_field(probe_admin: Client) -> None:
    reply = await probe_admin.post("/api/v1/auth/logout", {"everywhere": True})
    refused(reply, 40001)
    assert reply.fields == {"everywhere"}


async def test_brackets_inside_text_are_no_nesting(probe_admin: Client) -> None:
    name = '[{"' + "[{" * 60 + '\\"[['
    assert expect(await probe_admin.post(WIDGETS_AT, {"name": name}))["name"] == name


async def test_32_levels_are_read(probe_admin: Client) -> None:
    notes: Any = []
    for _ in range(30):
        notes = [notes]
    assert expect(await probe_admin.post(WIDGETS_AT, {"name": "deep", "notes": notes}))["notes"] == notes


async def test_free_content_comes_back_as_it_was_sent(probe_admin: Client) -> None:
    notes = {"a.b": [1, 2.5, "x", None, True, {}], "": {"c": -(2**63)}}
    assert expect(await probe_admin.post(WIDGETS_AT, {"name": "free", "notes": notes}))["notes"] == notes


async def test_a_whole_number_written_as_a_float_is_an_integer(probe_admin: Client) -> None:
    reply = await probe_admin.post(WIDGETS_AT, raw=b'{"name": "whole", "rank": 1e3}')
    expect(reply)
    assert b'"rank":1000,' in reply.body


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
async def test_a_body_of_another_media_type_is_refused(probed: Running, probe_admin: Client, media_type: str) -> None:
    async with nothing_written(probed):
        body = b'{"name": "a"}'
        refused(await probe_admin.post(WIDGETS_AT, raw=body, headers={"Content-Type": media_type}), 41500)


@pytest.mark.parametrize(
    "media_type", ["application/json", "Application/JSON;charset=UTF-8", 'application/json; charset="utf-8"']
)
async def test_json_may_say_that_it_is_utf_8(probe_admin: Client, media_type: str) -> None:
    body = json.dumps({"name": "typed"}).encode()
    expect(await probe_admin.post(WIDGETS_AT, raw=body, headers={"Content-Type": media_type}))


async def test_ten_megabytes_of_nesting_are_too_large(probed: Running, probe_admin: Client) -> None:
    async with nothing_written(probed):
        refused(await probe_admin.post(WIDGETS_AT, raw=b"[" * 10_000_000), 41300)


async def test_a_body_of_one_byte_over_a_mebibyte_is_too_large(probed: Running, probe_admin: Client) -> None:
    padding = b" " * (1 << 20)
    async with nothing_written(probed):
        refused(await probe_admin.post(WIDGETS_AT, raw=b'{"name":"a"}'[:1] + padding), 41300)


async def test_a_body_of_a_mebibyte_is_read(probe_admin: Client) -> None:
    body = b'{"name":"large"}'
    expect(await probe_admin.post(WIDGETS_AT, raw=body + b" " * ((1 << 20) - len(body))))


def chunked(*chunks: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def head(client: Client, *more: str) -> bytes:
    return request(
        f"POST {WIDGETS_AT}", f"Authorization: Bearer {client.token}", "Content-Type: application/json", *more
    )


async def test_chunks_over_a_mebibyte_are_too_large(probed: Running, probe_admin: Client) -> None:
    sent = head(probe_admin, "Transfer-Encoding: chunked") + chunked(*[b"[" * 65_536] * 17)
    async with nothing_written(probed):
        refused(await exchange(probed.url, sent), 41300)


async def test_a_body_in_chunks_is_one_body(probed: Running, probe_admin: Client) -> None:
    sent = head(probe_admin, "Transfer-Encoding: chunked") + chunked(b'{"na', b'me": "chu', b'nked"}')
    assert expect(await exchange(probed.url, sent))["name"] == "chunked"


async def test_a_body_far_over_the_limit_is_refused_before_it_is_sent(probed: Running, probe_admin: Client) -> None:
    async with connected(probed.url) as wire:
        await wire.send(head(probe_admin, "Content-Length: 99999999999"))
        refused(await wire.reply(), 41300)
        assert await wire.closed()


async def test_what_a_log_entry_cannot_hold_stops_no_other_entry(probed: Running, probe_admin: Client) -> None:
    strange = unique("strange")
    for body in (b'{"a\\u0000b": 1}', b'{"x": 18446744073709551615}', b'{"$ref": "a", "$id": {"$gt": ""}}'):
        await probe_admin.post(WIDGETS_AT, raw=body, headers={"X-Request-ID": strange})

    async def logged() -> Any:
        found = expect(await probe_admin.get(f"/api/v1/system/operation-logs?request_id={strange}"))
        return found["total"] == 3

    await eventually(logged)


@pytest.mark.parametrize(("version", "code"), [(-1, 40001), (0, 40001), (2, 40902), (2**53 - 1, 40902)])
async def test_every_number_but_the_version_is_stale_or_none(probe_admin: Client, version: int, code: int) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, {"name": "stale"}))
    path = f"{WIDGETS_AT}/{made['id']}"
    expect(await probe_admin.patch(path, {"version": version, "rank": 1}), code)
    assert expect(await probe_admin.get(path)) == made
