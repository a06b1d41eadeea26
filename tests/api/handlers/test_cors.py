"""Cross-origin calls: an allowlist, and preflights without a token (CONTRACT 1)."""

import pytest

from config.settings import DESKTOP_ORIGINS, DEV_ORIGINS, Settings
from plugins.boot.runtime import Running
from plugins.testing import Client, Reply, expect
from tests.support.probe import WIDGETS_AT
from tests.support.refusals import refused

pytestmark = pytest.mark.gen_test

STRANGERS = (
    "https://evil.example",
    "null",
    "",
    "*",
    "http://localhost",
    "http://localhost:5173.evil.example",
    "https://localhost:5173",
    "HTTP://LOCALHOST:5173",
    "http://localhost:5173/",
    "tauri://localhost.evil",
    "http://localhost:5173, https://evil.example",
)
LISTED = (*DESKTOP_ORIGINS, *DEV_ORIGINS)


def shared(reply: Reply) -> set[str]:
    return {name for name in reply.headers if name.startswith("Access-Control-")}


async def preflight(running: Running, origin: str, path: str = WIDGETS_AT) -> Reply:
    asked = {
        "Origin": origin,
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization",
    }
    return await Client(running.url).call("OPTIONS", path, headers=asked)


def test_the_desktop_client_and_the_dev_servers_are_on_the_list() -> None:
    assert {"tauri://localhost", "http://tauri.localhost", "http://localhost:5173"} <= set(LISTED)


@pytest.mark.parametrize("origin", LISTED)
async def test_a_preflight_from_a_listed_origin_needs_no_token(probed: Running, origin: str) -> None:
    reply = await preflight(probed, origin)
    expect(reply)
    assert reply.headers["Access-Control-Allow-Origin"] == origin
    methods = set(reply.headers["Access-Control-Allow-Methods"].split(", "))
    assert {"GET", "POST", "PUT", "PATCH", "DELETE"} <= methods
    headers = {name.lower() for name in reply.headers["Access-Control-Allow-Headers"].split(", ")}
    assert {"authorization", "content-type", "accept-language", "idempotency-key", "x-request-id"} <= headers


@pytest.mark.parametrize("origin", STRANGERS)
async def test_an_origin_off_the_list_gets_no_cors_headers(probed: Running, origin: str) -> None:
    for reply in (
        await preflight(probed, origin),
        await Client(probed.url).get("/api/health", headers={"Origin": origin}),
    ):
        assert shared(reply) == set()


async def test_a_response_to_a_listed_origin_may_be_read_with_its_tracing(probed: Running) -> None:
    reply = await Client(probed.url).get("/api/health", headers={"Origin": "tauri://localhost"})
    assert reply.headers["Access-Control-Allow-Origin"] == "tauri://localhost"
    assert reply.headers["Access-Control-Allow-Credentials"] == "true"
    assert {
        "X-Request-ID",
        "X-Possible-Duplicates",
        "Content-Location",
        "Content-Disposition",
        "ETag",
        "Retry-After",
        "Idempotency-Replayed",
        "X-Holdings",
    } <= set(reply.headers["Access-Control-Expose-Headers"].split(", "))


async def test_the_headers_of_a_preflight_are_not_those_of_a_request_with_the_same_fields(probed: Running) -> None:
    replies = [
        await Client(probed.url).call(method, "/api/health", headers={"Origin": "tauri://localhost"})
        for method in ("GET", "OPTIONS", "GET")
    ]
    told = ["Access-Control-Allow-Methods" in reply.headers for reply in replies]
    assert told == [False, True, False]


async def test_an_error_may_be_read_by_a_listed_origin_too(probed: Running) -> None:
    for path, code in (("/api/nowhere", 40400), (WIDGETS_AT, 40100)):
        reply = await Client(probed.url).get(path, headers={"Origin": "tauri://localhost"})
        refused(reply, code)
        assert reply.headers["Access-Control-Allow-Origin"] == "tauri://localhost"


async def test_caches_keep_the_responses_to_two_origins_apart(probed: Running) -> None:
    for headers in ({}, {"Origin": "tauri://localhost"}, {"Origin": "https://evil.example"}):
        reply = await Client(probed.url).get("/api/health", headers=headers)
        assert "Origin" in reply.headers["Vary"].split(", ")


async def test_a_request_from_nowhere_gets_no_cors_headers(probed: Running) -> None:
    assert shared(await Client(probed.url).get("/api/health")) == set()


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ("https://office.example", (*DESKTOP_ORIGINS, "https://office.example")),
        (
            "https://office.example, https://shop.example",
            (*DESKTOP_ORIGINS, "https://office.example", "https://shop.example"),
        ),
        ("-tauri://localhost", ("http://tauri.localhost",)),
        ("https://office.example,-tauri://localhost,-http://tauri.localhost", ("https://office.example",)),
        ("", DESKTOP_ORIGINS),
    ],
)
def test_the_setting_adds_to_the_origins_of_the_desktop_client_and_takes_away(
    given: str, allowed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADEWIND_CORS_ORIGINS", given)
    settings = Settings(_env_file=None, demo=True)  # type: ignore[call-arg]
    assert settings.allowed_origins == allowed
    assert Settings.model_fields["cors_origins"].default == DEV_ORIGINS
