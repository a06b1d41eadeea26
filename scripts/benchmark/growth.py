"""What grows with an installation: the cost of route, permission and scope, and memory by idle connection."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import secrets
import socket
import tempfile
import timeit
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from config.embedded import acquire
from handlers.actor import Actor
from handlers.route import Route
from handlers.routing import Router
from plugins.rbac.policy import Rules
from scripts.benchmark.compare import tradewind
from scripts.benchmark.consumption import resident_mib
from scripts.benchmark.foundation import RESULTS

ENTRIES_OF_A_PLUGIN = 25  # routes, of which the built-in plugins have about as many each
CONNECTIONS = 10_000
Figures = dict[str, Any]


def growth() -> Figures:
    """Measure, and write the raw result."""
    figures: Figures = {"when": datetime.now(UTC).isoformat(timespec="seconds")}
    figures["microseconds_by_plugins"] = {count: decision_costs(count) for count in (10, 100, 1000)}
    figures["idle_connections"] = {http: idle_connections(f"tradewind-{http}") for http in ("fast", "tornado")}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"growth-{figures['when'][:10]}.json").write_text(json.dumps(figures, indent=1) + "\n")
    return figures


def decision_costs(plugins: int) -> Figures:
    """Microseconds for one request to find its route, its permission, and its scope under as many departments."""
    count = plugins * ENTRIES_OF_A_PLUGIN

    async def handler(req: Any) -> None:
        """Never called."""

    routes = [
        Route(
            "GET",
            f"/api/v1/module{number % plugins}/things{number // plugins}/{{id}}",
            handler,
            "x",
            f"m{number}:thing:read",
        )
        for number in range(count)
    ]
    router, path = Router(routes), f"{routes[-1].path[:-4]}65f0c0ffee65f0c0ffee65f0"
    rules = _rules(routes, plugins)
    actor = Actor(7, department_id=1, roles=frozenset({1, 2}))

    def allowed() -> bool:
        return (routes[-1].method, routes[-1].path) in rules.grant(actor.roles).apis

    assert allowed()
    return {
        "entries": count,
        "route": _microseconds(lambda: router.match("GET", path)),
        "permission": _microseconds(allowed),
        "scope": _microseconds(lambda: rules.scope(actor.roles, actor.user_id, actor.department_id)),
        "scope_filter": _microseconds(rules.scope(actor.roles, 7, 1).filter),
    }


def _rules(routes: list[Route], departments: int) -> Rules:
    menus = {
        number: {
            "id": number,
            "role_ids": [1 + number % 2],
            "permission": route.access,
            "apis": [{"method": route.method, "path": route.path}],
        }
        for number, route in enumerate(routes)
    }
    roles = {
        id: {"id": id, "status": "enabled", "data_scope": "department_and_below", "code": str(id)} for id in (1, 2)
    }
    below = frozenset(range(1, departments + 1))
    return Rules(roles, menus, {id: {"id": id} for id in below}, {1: below})


def _microseconds(work: Any) -> float:
    return round(min(timeit.repeat(work, number=20_000, repeat=5)) / 20_000 * 1e6, 2)


def idle_connections(name: str) -> Figures:
    """KiB of memory that an idle keep-alive connection costs, after one request on each of 10,000."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # servers started from here have it too
    count = min(CONNECTIONS, most - 200)
    with tempfile.TemporaryDirectory() as folder:
        embedded = acquire(Path(folder))
        world = {"uri": embedded.uri, "secret": secrets.token_urlsafe(48), "admin_password": "Bench-world-2026"}
        try:
            with tradewind(name, Path(folder), world) as server:
                asyncio.run(_with_connections(server.port, 100))
                before = server.resident_mib()
                grown = asyncio.run(_with_connections(server.port, count, server.process.pid))
        finally:
            embedded.release_and_wait(15)
    return {"connections": count, "kib_each": round((grown - before) * 1024 / count, 2), "mib_before": round(before, 1)}


async def _with_connections(port: int, count: int, pid: int | None = None) -> float:
    """Resident memory of the process while `count` connections are open."""
    loop, sockets = asyncio.get_running_loop(), []
    try:
        for _ in range(count):
            one = socket.socket()
            one.setblocking(False)
            sockets.append(one)
            await loop.sock_connect(one, ("127.0.0.1", port))
            await loop.sock_sendall(one, b"GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n")
            await loop.sock_recv(one, 4096)
        return resident_mib(pid) if pid is not None else 0.0
    finally:
        for one in sockets:
            with contextlib.suppress(OSError):
                one.close()
