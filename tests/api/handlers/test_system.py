"""Health, readiness, metrics, constants, and the files of the docs page (CONTRACT 11)."""

import asyncio
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from config.database import DatabaseUnavailable
from handlers.catalogue.declarations import Catalogue, StateMachine
from handlers.docs import system
from handlers.schema.messages import Message
from handlers.service import Service
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Client, Reply, eventually, expect, serving

pytestmark = pytest.mark.gen_test
ENGLISH = {"Accept-Language": "en"}


async def gone() -> None:
    raise ConnectionError("secret-bucket.internal does not answer")


async def hang() -> None:
    await asyncio.Event().wait()


async def no_ping(database: object) -> None:
    raise DatabaseUnavailable("no primary")


async def readiness(client: Client, code: int) -> Reply:
    """Wait for a response with this code; an earlier result is cached for a second."""

    async def asked() -> Reply | None:
        reply = await client.get("/api/health/ready", headers=ENGLISH)
        return reply if reply.code == code else None

    reply: Reply = await eventually(asked)
    return reply


async def test_liveness_is_ok(anonymous: Client) -> None:
    assert expect(await anonymous.get("/api/health")) == {"status": "ok"}


async def test_liveness_does_not_ask_the_database(anonymous: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "_ping", no_ping)
    await readiness(anonymous, 50300)
    expect(await anonymous.get("/api/health"))


async def test_readiness_names_what_it_asked(anonymous: Client) -> None:
    ready = (await readiness(anonymous, 0)).data
    assert ready["status"] == "ready"
    assert "database" in ready["checks"]


async def test_a_part_that_is_gone_makes_the_process_unready_and_is_named_without_its_inside(
    anonymous: Client, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tradewind.service.readiness, "archive", gone)
    reply = await readiness(anonymous, 50300)
    assert (reply.status, reply.code) == (503, 50300)
    assert reply.json["msg"] == "The service is not ready: archive"
    assert int(reply.headers["Retry-After"]) > 0


async def test_a_part_that_hangs_is_given_up(
    anonymous: Client, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "_READY_SECONDS", 0.05)
    monkeypatch.setitem(tradewind.service.readiness, "archive", hang)
    await readiness(anonymous, 50300)


async def test_the_database_is_asked_once_a_second_however_many_want_to_know(
    anonymous: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_at = []

    async def ping(database: object) -> None:
        asked_at.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.01)

    monkeypatch.setattr(system, "_ping", ping)
    await readiness(anonymous, 0)
    while len(asked_at) < 3:
        await asyncio.gather(*(anonymous.get("/api/health/ready") for _ in range(20)))
    waits = [after - before for before, after in pairwise(asked_at)]
    assert min(waits) >= 0.9  # a busy machine notes the moment of asking late


async def test_a_draining_process_is_not_ready(
    anonymous: Client, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tradewind.service, "draining", True)
    reply = await anonymous.get("/api/health/ready", headers=ENGLISH)
    assert (reply.status, reply.json["msg"]) == (503, "The service is stopping")


async def test_two_readiness_checks_of_one_name_are_refused(tradewind: Running) -> None:
    service = Service(tradewind.service.settings, tradewind.catalogue, tradewind.service.database)
    service.ready_when("archive", gone)
    with pytest.raises(ValueError, match="archive"):
        service.ready_when("archive", gone)


async def test_constants_have_every_error_code_once(anonymous: Client, tradewind: Running) -> None:
    constants = expect(await anonymous.get("/api/v1/meta/constants"))
    catalogue = tradewind.catalogue.errors
    assert [row["code"] for row in constants["error_codes"]] == sorted(kind.code for kind in catalogue)
    invalid = next(row for row in constants["error_codes"] if row["code"] == 40001)
    assert invalid == {"name": "invalid", "code": 40001, "status": 400, "message": "参数校验失败"}


async def test_constants_have_dictionaries_by_type_in_the_callers_language(anonymous: Client) -> None:
    constants = expect(await anonymous.get("/api/v1/meta/constants", headers=ENGLISH))
    first = {"value": "A", "label": "Key", "color": "red", "disabled": False}
    assert constants["dictionaries"]["crm_customer_level"][0] == first


async def test_constants_have_state_machines_by_name(
    anonymous: Client, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = {"draft": Message("草稿", "Draft"), "signed": Message("已签署", "Signed")}
    machine = StateMachine("agreement", "draft", states, {"sign": (("draft",), "signed")})
    monkeypatch.setitem(tradewind.service.parts, Catalogue, replace(tradewind.catalogue, state_machines=(machine,)))
    constants = expect(await anonymous.get("/api/v1/meta/constants", headers=ENGLISH))
    assert constants["state_machines"]["agreement"] == {
        "initial": "draft",
        "states": {"draft": "Draft", "signed": "Signed"},
        "transitions": [{"action": "sign", "from": ["draft"], "to": "signed", "label": "Signed"}],
    }


async def test_constants_have_every_permission_code(anonymous: Client, tradewind: Running) -> None:
    constants = expect(await anonymous.get("/api/v1/meta/constants"))
    guarded = {route.access for route in tradewind.catalogue.routes if route.guarded}
    assert constants["permissions"] == sorted(guarded)


async def test_metrics_count_requests_by_route(anonymous: Client) -> None:
    await anonymous.get("/api/health")
    reply = await anonymous.get("/metrics")
    assert reply.headers["Content-Type"].startswith("text/plain")
    assert 'tradewind_requests_total{method="GET",route="/api/health",status="200"}' in reply.body.decode()


async def test_metrics_are_hidden_from_an_address_off_the_list(mongodb_uri: str, tmp_path: Path) -> None:
    async with serving(mongodb_uri, tmp_path, load_plugins(("auth",)), metrics_clients=("10.0.0.1",)) as elsewhere:
        expect(await Client(elsewhere.url).get("/metrics"), 40400)


async def test_the_docs_page_may_load_nothing_from_elsewhere(anonymous: Client) -> None:
    page = await anonymous.get("/api/docs")
    assert page.headers["Content-Type"].startswith("text/html")
    policy = page.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'self'", "frame-ancestors 'none'"} <= set(policy)


async def test_a_script_of_the_docs_page_is_served_as_a_script(anonymous: Client) -> None:
    script = await anonymous.get("/api/docs/swagger-ui-bundle.js")
    assert script.headers["Content-Type"].startswith("text/javascript")
    assert len(script.body) > 1_000_000


async def test_no_other_file_is_reached_through_the_docs_page(anonymous: Client) -> None:
    for name in ("docs.js", "swagger-ui.js", "..%2Fsystem.py", "%2e%2e/settings.py"):
        expect(await anonymous.get(f"/api/docs/{name}"), 40400)
