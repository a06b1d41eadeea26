"""How much a JSON body may hold, and how much is said of what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handlers.schema.errors import ApiError
from handlers.schema.validation import parse_json
from plugins.boot.runtime import Running
from plugins.testing import Client, expect
from tests.support.probe import WIDGETS_AT
from tests.support.refusals import nothing_written, refused

pytestmark = pytest.mark.gen_test
LOGIN = "/api/v1/auth/login"
MANY = {
    "objects": b'{"name": "a", "notes": [' + b"{}," * 340_000 + b"{}]}",
    "numbers": b'{"name": "a", "notes": [' + b"1," * 200_000 + b"1]}",
    "texts": b'{"name": "a", "notes": [' + b'"",' * 200_000 + b'""]}',
    "names": b'{"name": "a"' + b"".join(b',"k%d":1' % number for number in range(100_000)) + b"}",
    "texts without a comma": b'{"name": "a", "notes": [' + b'""' * 200_000 + b"]}",
    "brackets that never end": b"[" * 500_000,
}
FEW = {
    "commas in a text": {"name": "a", "notes": ["," * 500_000]},
    "brackets in a text": {"name": "a", "notes": ["[{" * 250_000]},
    "quotes in a text": {"name": "a", "notes": ['"' * 250_000]},
    "backslashes in a text": {"name": "a", "notes": ["\\" * 250_000]},
    "fifteen thousand numbers": {"name": "a", "notes": list(range(15_000))},
}


@pytest.mark.parametrize("body", MANY.values(), ids=MANY)
async def test_a_body_of_very_many_values_is_too_large(probed: Running, probe_admin: Client, body: bytes) -> None:
    async with nothing_written(probed):
        refused(await probe_admin.post(WIDGETS_AT, raw=body), 41300)


@pytest.mark.parametrize("body", FEW.values(), ids=FEW)
async def test_a_large_body_of_few_values_is_taken(probe_admin: Client, body: dict[str, Any]) -> None:
    made = expect(await probe_admin.post(WIDGETS_AT, body))
    assert made["notes"] == body["notes"]


@pytest.mark.parametrize(
    "raw",
    [b'"' + b'\\"' * 100_000, b'"' + b'\\"' * 100_000 + b"\\", b"[" * 33 + b'"' * 3, b"[" * 33 + b'"\\', b"[[]]]" * 40],
)
def test_broken_text_is_malformed(raw: bytes) -> None:
    with pytest.raises(ApiError) as refusal:
        parse_json(raw, 32, 20_000)
    assert refusal.value.kind.code == 40000


def nested(levels: int) -> bytes:
    """Brackets of both kinds, so many levels deep, beside many shallow ones."""
    inside: Any = ["}]", {"[": "\\"}]
    for level in range(levels - 2):
        inside = [inside] if level % 2 else {"a{": inside}
    return json.dumps([inside, *([[{}]] * 100)])[:-1].encode() + b"]"


@pytest.mark.parametrize(("levels", "taken"), [(31, True), (32, False)])
def test_the_depth_is_that_of_the_deepest_place(levels: int, taken: bool) -> None:
    raw = nested(levels)  # in a list, which is one level more
    if taken:
        assert parse_json(raw, 32, 20_000) == json.loads(raw)
        return
    with pytest.raises(ApiError):
        parse_json(raw, 32, 20_000)


@pytest.mark.parametrize(
    "body",
    [
        {"name": "a", **{f"k{number}": 1 for number in range(5000)}},
        {"name": "a", "parts": [{"sku": "s", "count": "x"}] * 4000},
        {"name": "a", "parts": [{}] * 4000},
        {"name": "a", "tags": [[]] * 5000},
    ],
    ids=["unknown names", "wrong values", "missing values", "wrong items"],
)
async def test_twenty_faults_are_reported_at_most(probe_admin: Client, body: dict[str, Any]) -> None:
    data = refused(await probe_admin.post(WIDGETS_AT, body), 40001)
    assert len(data["errors"]) == 20


async def test_a_fault_far_behind_is_found(probe_admin: Client) -> None:
    parts = [{"sku": "s", "count": 1}] * 5000 + [{"sku": "s", "count": "x"}]
    data = refused(await probe_admin.post(WIDGETS_AT, {"name": "a", "parts": parts, "tags": ["x"]}), 40001)
    assert data["errors"]
    assert {error["field"].partition("[")[0] for error in data["errors"]} == {"parts"}


async def test_an_unknown_name_is_reported_in_part(probe_admin: Client) -> None:
    data = refused(await probe_admin.post(WIDGETS_AT, {"name": "a", "x" * 100_000: 1}), 40001)
    assert len(data["errors"][0]["field"]) <= 500


async def test_unknown_names_without_a_declared_body_are_reported_in_part(probe_admin: Client) -> None:
    body = {f"k{number}": 1 for number in range(5000)}
    assert len(refused(await probe_admin.post("/api/v1/auth/logout", body), 40001)["errors"]) == 20


async def test_a_body_of_somebody_who_is_not_logged_in_is_small(probed: Running) -> None:
    client = Client(probed.url)
    longest = {"username": "nobody", "password": "密" * 10_000}  # as long as a password may be
    expect(await client.post(LOGIN, longest), 40010)
    refused(await client.post(LOGIN, {"username": "nobody", "password": "密" * 30_000}), 41300)


async def test_a_large_body_without_a_token_is_too_large_before_it_is_unauthenticated(
    probed: Running, probe_admin: Client
) -> None:
    large, small = ({"name": "a", "notes": ["x" * size]} for size in (70_000, 60_000))
    stranger = Client(probed.url)
    assert [(await stranger.post(WIDGETS_AT, body)).code for body in (large, small)] == [41300, 40100]
    expect(await probe_admin.post(WIDGETS_AT, large))
