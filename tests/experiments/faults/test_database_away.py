"""MongoDB goes away while the service runs: 50300 within the time limit, and service again when it is back."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from plugins.testing import PASSWORD, Client, Reply, eventually, expect, unique
from tests.experiments.faults.conftest import TIMEOUT_MS, Site, back
from tests.support.probe import AT, WIDGETS_AT
from tests.support.refusals import refused
from tests.support.watchdog import LoopWatchdog

pytestmark = pytest.mark.gen_test(timeout=30)
LIMIT_SECONDS = TIMEOUT_MS / 1000 + 2.5  # a busy machine; without the limit it would be half a minute
READING = ["probe:widget:list", "probe:widget:read"]

REQUESTS: dict[str, Callable[[Client], Awaitable[Reply]]] = {
    "a list": lambda admin: admin.get(WIDGETS_AT),
    "a record": lambda admin: admin.get(f"{WIDGETS_AT}/{'0' * 24}"),
    "a write": lambda admin: admin.post(WIDGETS_AT, {"name": "a"}),
    "a write with a key": lambda admin: admin.post(
        WIDGETS_AT, {"name": "a"}, headers={"Idempotency-Key": unique("key")}
    ),
    "a transaction": lambda admin: admin.post(f"{AT}/pairs", {"first": unique("a"), "second": unique("b")}),
    "a log-in": lambda admin: admin.post("/api/v1/auth/login", {"username": "admin", "password": PASSWORD}),
}


@pytest.fixture
def fault() -> str:
    """The way in which the database goes away: the one that takes longest to notice."""
    return "hanging"


async def hurt(site: Site, fault: str) -> None:
    """Take the database away: `dead` resets and refuses, `hanging` accepts and never replies, `forgotten` loses links."""
    if fault == "dead":
        await site.proxy.down()
    elif fault == "hanging":
        site.proxy.stall()
    else:
        site.proxy.forget()


async def refused_in_time(client: Client, times: int) -> None:
    """Send every kind of request `times` times at once; each gets 50300 in time."""

    await asyncio.gather(*(refused_in(LIMIT_SECONDS, what, client) for what in REQUESTS for _ in range(times)))


async def refused_in(seconds: float, what: str, client: Client) -> None:
    """Send a request; it gets 50300 in time."""
    started = time.monotonic()
    reply = await REQUESTS[what](client)
    took = time.monotonic() - started
    assert took < seconds, f"{what} took {took:.2f} s"
    refused(reply, 50300)
    assert 1 <= int(reply.headers["Retry-After"]) <= 60


async def test_many_requests_at_once_all_get_503_within_the_time_limit(site: Site, fault: str) -> None:
    await hurt(site, fault)
    await refused_in_time(site.admin, times=10)


async def test_no_request_outlives_the_limit_of_requests(site: Site, watchdog: LoopWatchdog) -> None:
    block = site.open_another(mongodb_timeout_ms=10_000, request_seconds=0.5)
    with watchdog.paused():
        running = await block.__aenter__()
    admin = Client(running.url, site.admin.token)
    expect(await admin.get(WIDGETS_AT))
    site.proxy.stall()
    await asyncio.gather(*(refused_in(4, what, admin) for what in REQUESTS))
    await site.proxy.up()
    await block.__aexit__(None, None, None)


async def test_a_handshake_is_refused_as_a_request_is(site: Site) -> None:
    account = await site.people.account([])
    stranger = Client(site.behind.url, (await site.admin_beside.log_in(account["username"])).token)
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    site.proxy.stall()
    started = time.monotonic()
    refused(await stranger.get(f"{AT}/talk", headers={**upgrade, **key}), 50300)
    assert time.monotonic() - started < LIMIT_SECONDS


async def test_the_process_is_healthy_and_not_ready(site: Site) -> None:
    await site.proxy.down()
    started = time.monotonic()
    expect(await site.admin.get("/api/health"))
    assert time.monotonic() - started < 0.5

    async def not_ready() -> Reply | None:
        reply = await site.admin.get("/api/health/ready")
        return reply if reply.code else None

    reply = await eventually(not_ready)  # the previous state is cached for a second
    refused(reply, 50300)
    assert int(reply.headers["Retry-After"]) >= 1


async def test_it_serves_again_when_the_database_is_back(site: Site, fault: str) -> None:
    await hurt(site, fault)
    refused(await site.admin.get(WIDGETS_AT), 50300)
    await site.proxy.up()
    await back(site)
    made = expect(await site.admin.post(WIDGETS_AT, {"name": "after"}))
    expect(await site.admin.get(f"{WIDGETS_AT}/{made['id']}"))


async def test_a_permission_that_was_taken_away_meanwhile_is_gone(site: Site) -> None:
    role = await site.people.role(READING)
    account = await site.people.account([role])
    person = await Client(site.behind.url).log_in(account["username"])
    expect(await person.get(WIDGETS_AT))
    await site.proxy.down()
    expect(await site.admin_beside.put(f"/api/v1/system/roles/{role}/menus", {"menu_ids": []}))
    refused(await site.admin.post(WIDGETS_AT, {"name": "a"}), 50300)
    await site.proxy.up()
    await back(site)

    async def is_gone() -> bool:
        return (await person.get(WIDGETS_AT)).code == 40300

    await eventually(is_gone, seconds=2)


async def test_changes_are_heard_of_again(site: Site, fault: str) -> None:
    role = await site.people.role(READING)
    account = await site.people.account([role])
    person = await Client(site.behind.url).log_in(account["username"])
    await hurt(site, fault)
    await site.admin.post(WIDGETS_AT, {"name": "a"})
    await site.proxy.up()
    await back(site)
    expect(await person.get(WIDGETS_AT))
    expect(await site.admin_beside.put(f"/api/v1/system/roles/{role}/menus", {"menu_ids": []}))

    async def is_gone() -> bool:
        return (await person.get(WIDGETS_AT)).code == 40300

    # a connection that died without a word is given up after a while
    await eventually(is_gone, seconds=6 if fault == "forgotten" else 2)


async def test_a_retry_with_the_same_key_after_the_outage_writes_once(site: Site) -> None:
    key, batch = {"Idempotency-Key": unique("key")}, unique("batch")
    body = {"name": "once", "batch": batch}
    site.proxy.stall()
    refused(await site.admin.post(WIDGETS_AT, body, headers=key), 50300)
    await site.proxy.up()

    async def succeeds() -> bool:
        return (await site.admin.post(WIDGETS_AT, body, headers=key)).code == 0

    await eventually(succeeds, seconds=10)
    assert expect(await site.admin.get(f"{WIDGETS_AT}?batch={batch}"))["total"] == 1


async def test_what_was_refused_meanwhile_is_in_the_operation_log(site: Site) -> None:
    trace = unique("trace")
    site.proxy.stall()
    refused(await site.admin.post(WIDGETS_AT, {"name": "a"}, headers={"X-Request-ID": trace}), 50300)
    await site.proxy.up()

    async def rows() -> list[dict[str, object]]:
        query = f"/api/v1/system/operation-logs?request_id={trace}"
        found: list[dict[str, object]] = expect(await site.admin_beside.get(query))["items"]
        return found

    (row,) = await eventually(rows, seconds=10)
    assert (row["status"], row["code"]) == (503, 50300)


async def test_a_server_stops_in_time_without_its_database(site: Site, fault: str, watchdog: LoopWatchdog) -> None:
    block = site.open_another()
    with watchdog.paused():  # a start compiles schemas, before anybody is served
        running = await block.__aenter__()
    admin = Client(running.url, site.admin.token)
    expect(await admin.get(WIDGETS_AT))
    await hurt(site, fault)
    refused(await admin.post(WIDGETS_AT, {"name": "a"}), 50300)
    started = time.monotonic()
    await block.__aexit__(None, None, None)
    assert time.monotonic() - started < 5
