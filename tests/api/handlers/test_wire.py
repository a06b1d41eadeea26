"""The wire: envelope, language, request ids, HEAD, what an error tells (CONTRACT 1, 2)."""

import re

import pytest

from handlers.http.heads import field_lines
from handlers.schema.messages import language_of
from plugins.boot.runtime import Running
from plugins.testing import Client, eventually, expect, unique
from tests.support.probe import AT, INSIDE, WIDGETS_AT
from tests.support.raw_http import connected, exchange, request
from tests.support.refusals import refused

pytestmark = pytest.mark.gen_test


async def test_a_success_is_an_envelope_of_exactly_three_fields(probed: Running) -> None:
    reply = await Client(probed.url).get("/api/health")
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "application/json; charset=utf-8"
    assert reply.json == {"code": 0, "msg": "成功", "data": {"status": "ok"}}


async def test_an_error_is_an_envelope_of_exactly_three_fields(probed: Running) -> None:
    reply = await Client(probed.url).get("/api/nowhere")
    assert reply.json == {"code": 40400, "msg": "资源不存在", "data": None}


async def test_msg_is_english_for_somebody_who_prefers_english(probed: Running) -> None:
    for path, msg in (("/api/health", "OK"), ("/api/nowhere", "Not found")):
        reply = await Client(probed.url).get(path, headers={"Accept-Language": "en-GB,en;q=0.9"})
        assert reply.json["msg"] == msg


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, "zh"),
        ("", "zh"),
        ("en", "en"),
        ("en-US", "en"),
        ("EN", "en"),
        ("zh-CN", "zh"),
        ("fr", "zh"),
        ("*", "zh"),
        ("zh,en", "zh"),
        ("en,zh", "en"),
        ("zh;q=0.5,en;q=0.9", "en"),
        ("en;q=0.1,zh;q=0.2", "zh"),
        ("en;q=0", "zh"),
        ("fr,en;q=0.1", "en"),
        ("en;q=nonsense", "zh"),
        ("en;q=2", "en"),
        (";;;,,,q=", "zh"),
        ("english", "zh"),
    ],
)
def test_the_preferred_of_the_two_languages_is_spoken(header: str | None, language: str) -> None:
    assert language_of(header) == language


@pytest.mark.parametrize("id", ["a", "A-b_c.9", "x" * 64, "0"])
async def test_a_sound_request_id_comes_back(probed: Running, id: str) -> None:
    reply = await Client(probed.url).get("/api/health", headers={"X-Request-ID": id})
    assert reply.headers["X-Request-ID"] == id


@pytest.mark.parametrize("id", ["", "x" * 65, "a b", "a,b", "é", "a/b", "a\tb", "<script>", "a;b", "$ne"])
async def test_another_request_id_is_replaced(probed: Running, id: str) -> None:
    reply = await exchange(probed.url, request("GET /api/health", f"X-Request-ID: {id}"))
    assert re.fullmatch(r"[0-9a-f]{32}", reply.headers["X-Request-ID"])


async def test_two_request_ids_are_replaced_by_one(probed: Running) -> None:
    reply = await exchange(probed.url, request("GET /api/health", "X-Request-ID: a", "X-Request-ID: b"))
    assert re.fullmatch(r"[0-9a-f]{32}", reply.headers["X-Request-ID"])


async def test_every_request_has_an_id_of_its_own(probed: Running) -> None:
    ids = {(await Client(probed.url).get("/api/health")).headers["X-Request-ID"] for _ in range(5)}
    assert len(ids) == 5


async def test_errors_and_preflights_carry_the_request_id_too(probed: Running) -> None:
    for line in ("GET /api/nowhere", "POST /api/health", "OPTIONS /api/health", "GET /api/docs/%00"):
        reply = await exchange(probed.url, request(line, "X-Request-ID: traced"))
        assert reply.headers["X-Request-ID"] == "traced"


async def test_the_operation_log_knows_the_request_id(probe_admin: Client) -> None:
    id = unique("traced")
    await probe_admin.post(WIDGETS_AT, {"name": "logged"}, headers={"X-Request-ID": id})

    async def rows() -> list[dict[str, object]]:
        found: list[dict[str, object]] = expect(
            await probe_admin.get(f"/api/v1/system/operation-logs?request_id={id}")
        )["items"]
        return found

    (row,) = await eventually(rows)
    assert (row["path"], row["code"], row["status"], row["user_id"]) == (WIDGETS_AT, 0, 200, 1)


async def test_head_returns_the_headers_of_get_without_the_body(probed: Running) -> None:
    async with connected(probed.url) as wire:
        await wire.send(request("GET /api/health") + request("HEAD /api/health") + request("GET /api/health"))
        got, head, after = await wire.reply(), await wire.reply(head=True), await wire.reply()
    changing = {"Date", "X-Request-Id"}
    assert {k: v for k, v in head.headers.items() if k not in changing} == {
        k: v for k, v in got.headers.items() if k not in changing
    }
    assert (head.status, head.body) == (200, b"")
    expect(after)


async def test_head_of_what_is_not_there_is_not_found(probed: Running) -> None:
    assert (await exchange(probed.url, request("HEAD /api/nowhere"), head=True)).status == 404


async def test_options_names_the_methods_of_a_path(probed: Running) -> None:
    reply = await exchange(probed.url, request(f"OPTIONS {WIDGETS_AT}"))
    expect(reply)
    assert reply.headers["Allow"] == "GET, HEAD, OPTIONS, POST"


async def test_options_of_what_is_not_there_is_not_found(probed: Running) -> None:
    refused(await exchange(probed.url, request("OPTIONS /api/nowhere")), 40400)


async def test_a_bug_tells_the_request_id_and_nothing_of_the_inside(probed: Running, probe_admin: Client) -> None:
    reply = await probe_admin.post(f"{AT}/fail", {"password": "hunter2"}, headers={"X-Request-ID": "quoted"})
    assert refused(reply, 50000) == {"request_id": "quoted"}
    assert INSIDE.encode() not in reply.body


async def test_no_response_may_be_cached_or_taken_for_another_type(probed: Running) -> None:
    reply = await Client(probed.url).get("/api/health")
    assert (reply.headers["Cache-Control"], reply.headers["X-Content-Type-Options"]) == ("no-store", "nosniff")


async def test_the_last_response_of_a_connection_has_the_headers_of_the_others(probed: Running) -> None:
    kept, last = [
        dict((await exchange(probed.url, request("GET /api/health", "X-Request-ID: same", *more))).headers.get_all())
        for more in ((), ("Connection: close",))
    ]
    assert last.pop("Connection") == "close"
    assert kept.keys() == last.keys()
    assert {name: kept[name] for name in kept if name != "Date"} == {
        name: last[name] for name in last if name != "Date"
    }


def test_a_header_that_would_begin_a_line_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="line break"):
        field_lines({"Content-Type": "text/plain\r\nSet-Cookie: a=b"})


async def test_a_response_does_not_name_the_server_software(probed: Running) -> None:
    assert "Server" not in (await Client(probed.url).get("/api/health")).headers
