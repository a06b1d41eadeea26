"""Health, readiness, metrics, constants, the settings that everybody may read (CONTRACT 11)."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tornado.ioloop import IOLoop

from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, eventually, expect, serving, unique
from tests.support import probe
from tests.support.raw_http import connected, request
from tests.support.refusals import refused
from tests.support.servers import KEYS

pytestmark = pytest.mark.gen_test(timeout=20)


@asynccontextmanager
async def server(uri: str, folder: Path, **settings: object) -> AsyncIterator[Running]:
    """A server of the probe with other settings."""
    plugins = [*load_plugins(("auth", "rbac", "system")), probe.plugin]
    async with serving(uri, folder, plugins, demo=False, jwt_secret=KEYS[0], **settings) as it:
        yield it


@pytest.fixture(scope="module")
def odd(http: str, io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that has little patience, and shows its metrics to the network 10.0.0.0/8 behind a proxy."""
    block = server(
        mongodb_uri,
        tmp_path_factory.mktemp("odd"),
        metrics_clients=("10.0.0.0/8",),
        trusted_proxies=("127.0.0.1",),
        request_seconds=0.3,
        idle_seconds=0.3,
        http=http,
    )
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_health_and_readiness_need_no_token(probed: Running) -> None:
    assert expect(await Client(probed.url).get("/api/health")) == {"status": "ok"}
    assert expect(await Client(probed.url).get("/api/health/ready"))["status"] == "ready"


async def test_a_server_that_stops_finishes_open_requests_first(mongodb_uri: str, tmp_path: Path) -> None:
    block = server(mongodb_uri, tmp_path)
    running = await block.__aenter__()
    gate = running.service.part(probe.Gate)
    async with connected(running.url) as waiting, connected(running.url) as probing:
        await waiting.send(request(f"GET {probe.AT}/wait"))

        async def is_waiting() -> bool:
            return gate.waiting == 1

        async def is_draining() -> bool:
            return running.service.draining

        await eventually(is_waiting)
        stopping = asyncio.create_task(block.__aexit__(None, None, None))
        await eventually(is_draining)
        await probing.send(request("GET /api/health/ready"))
        reply = await probing.reply()
        refused(reply, 50300)
        assert int(reply.headers["Retry-After"]) >= 1
        gate.open.set()
        reply = await waiting.reply()
        assert expect(reply) == {"waited": True}
        assert reply.headers["Connection"] == "close"
        await stopping


async def metrics(client: Client, **headers: str) -> dict[str, float]:
    reply = await client.get("/metrics", headers=headers)
    assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(reply.body.decode())
    return {f"{s.name}{sorted(s.labels.items())}": s.value for family in families for s in family.samples}


async def test_metrics_count_requests_by_route_and_status(probed: Running) -> None:
    client = Client(probed.url)
    name = "tradewind_requests_total[('method', 'GET'), ('route', '/api/v1/probe/things/{id}'), ('status', '401')]"
    before = (await metrics(client)).get(name, 0)
    for id in ("a", "b", "c"):
        await client.get(f"{probe.AT}/things/{id}")
    assert (await metrics(client))[name] == before + 3


async def test_metrics_hold_no_path_that_a_client_made_up(probed: Running) -> None:
    client = Client(probed.url)
    await client.get("/api/made-up-by-a-client")
    await client.call("BREW", "/api/health")
    text = (await client.get("/metrics")).body
    assert b"made-up" not in text
    assert b"BREW" not in text


FORWARDED = ({"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}, {"x-real-ip": "127.0.0.1"})


async def test_nobody_believes_a_forwarded_address_without_a_trusted_proxy(
    probed: Running, probe_admin: Client
) -> None:
    name = unique("forwarded")
    await Client(probed.url).post(
        "/api/v1/auth/login", {"username": name, "password": "x"}, headers={"X-Forwarded-For": "203.0.113.9"}
    )
    rows = expect(await probe_admin.get(f"/api/v1/system/login-logs?username={name}"))["items"]
    assert [row["address"] for row in rows] == ["127.0.0.1"]


@pytest.mark.parametrize("headers", FORWARDED)
async def test_metrics_are_refused_to_clients_behind_an_unnamed_proxy(probed: Running, headers: dict[str, str]) -> None:
    await metrics(Client(probed.url))
    refused(await Client(probed.url).get("/metrics", headers=headers), 40400)


@pytest.mark.parametrize("headers", FORWARDED[1:])
async def test_metrics_are_shut_where_a_trusted_proxy_does_not_say_for_whom_it_asks(
    mongodb_uri: str, tmp_path: Path, headers: dict[str, str]
) -> None:
    async with serving(
        mongodb_uri, tmp_path, load_plugins(("auth", "rbac")), trusted_proxies=("127.0.0.1",)
    ) as service:
        refused(await Client(service.url).get("/metrics", headers=headers), 40400)
        await metrics(Client(service.url))


async def test_metrics_are_for_the_listed_addresses(odd: Running) -> None:
    client = Client(odd.url)
    refused(await client.get("/metrics"), 40400)
    await metrics(client, **{"X-Forwarded-For": "10.1.2.3"})


async def test_metrics_are_hidden_from_clients_behind_a_proxy(odd: Running) -> None:
    for hops in ("203.0.113.9", "10.1.2.3, 203.0.113.9"):
        refused(await Client(odd.url).get("/metrics", headers={"X-Forwarded-For": hops}), 40400)


async def test_constants_are_for_everybody_and_complete(probed: Running) -> None:
    data = expect(await Client(probed.url).get("/api/v1/meta/constants"))
    assert set(data) == {"error_codes", "dictionaries", "state_machines", "permissions"}
    codes = {row["code"]: row for row in data["error_codes"]}
    assert codes[40001] == {"name": "invalid", "code": 40001, "status": 400, "message": "参数校验失败"}
    assert {kind.code for kind in probed.catalogue.errors} == set(codes)
    assert data["permissions"] == sorted(data["permissions"])
    assert "probe:widget:create" in data["permissions"]


async def test_constants_are_in_english_too(probed: Running) -> None:
    data = expect(await Client(probed.url).get("/api/v1/meta/constants", headers={"Accept-Language": "en"}))
    assert {"Not found", "Already exists"} <= {row["message"] for row in data["error_codes"]}


CODES = (
    40000,
    40001,
    40011,
    40010,
    40100,
    40101,
    40102,
    40300,
    40301,
    40302,
    40303,
    40400,
    40500,
    40900,
    40901,
    40902,
    40903,
    41300,
    41600,
    41500,
    42300,
    42900,
    50000,
    50300,
)


async def test_every_code_of_the_contract_is_in_the_catalogue(probed: Running) -> None:
    statuses = {kind.code: kind.status for kind in probed.catalogue.errors}
    assert {code: statuses.get(code) for code in CODES} == {code: code // 100 for code in CODES}


async def test_public_settings_are_for_everybody(probed: Running) -> None:
    assert expect(await Client(probed.url).get("/api/configs/public"))["time_zone"] == "Asia/Shanghai"


async def test_requests_over_the_rate_are_refused_with_the_time_to_wait(mongodb_uri: str, tmp_path: Path) -> None:
    async with server(mongodb_uri, tmp_path, rate_limits="on", requests_per_minute=5) as running:
        client = await Client(running.url).log_in("admin")
        replies = [await client.get("/api/v1/auth/codes") for _ in range(6)]
        assert [reply.code for reply in replies[:5]] == [0] * 5
        refused(replies[5], 42900)
        assert 1 <= int(replies[5].headers["Retry-After"]) <= 60
        expect(await client.get("/api/health"))


async def test_a_client_that_goes_away_leaves_no_open_request(probed: Running) -> None:
    gate = probed.service.part(probe.Gate)

    async def is_waiting() -> bool:
        return gate.waiting == 1

    async with connected(probed.url) as wire:
        await wire.send(request(f"GET {probe.AT}/wait"))
        await eventually(is_waiting)
    gate.open.set()
    assert await probed.front.idle(2)
    gate.open.clear()


async def test_a_handler_that_takes_too_long_is_given_up(odd: Running) -> None:
    reply = await Client(odd.url).get(f"{probe.AT}/wait")
    refused(reply, 50300)
    assert int(reply.headers["Retry-After"]) >= 1
    assert odd.service.part(probe.Gate).waiting == 0


async def test_an_idle_connection_is_closed(odd: Running) -> None:
    async with connected(odd.url) as wire:
        await wire.send(request("GET /api/health"))
        expect(await wire.reply())
        assert await asyncio.wait_for(wire.closed(), 3)


async def test_a_request_that_never_ends_is_cut_off(odd: Running) -> None:
    async with connected(odd.url) as wire:
        await wire.send(
            request("POST /api/v1/auth/login", "Content-Length: 100", "Content-Type: application/json") + b"{"
        )
        assert await asyncio.wait_for(wire.closed(), 3)
    assert await odd.front.idle(1)


async def test_constants_that_a_client_has_are_not_sent_again(anonymous: Client) -> None:
    path = "/api/v1/meta/constants"
    first = await anonymous.get(path)
    again = await anonymous.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    other = await anonymous.get(path, headers={"If-None-Match": first.headers["ETag"], "Accept-Language": "en"})
    assert other.status == 200
