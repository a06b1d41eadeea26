"""Statements and ageing of a million payments: each response beside its own pipelines alone, as for the dashboards."""

from __future__ import annotations

import json
import os
import secrets
import statistics
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from config.embedded import acquire
from tests.experiments.benchmark.books import make_books
from tests.experiments.benchmark.compare import CACHE, OTHER_CORE, about, tradewind
from tests.experiments.benchmark.dashboards import beside_its_pipelines, connection
from tests.experiments.benchmark.servers import DATABASE
from tests.experiments.benchmark.world import Api, make_world, new_secret, remember

_COLLECTIONS = ("crm_customers", "finance_open_items", "finance_payments", "finance_open_item_entries")
_LEAST_PAIRS = 3  # for requests that take seconds
_EMPTY = "/api/v1/bench/ping"
Figures = dict[str, Any]


def asked(world: Mapping[str, Any]) -> dict[str, str]:
    """Return the paths to measure by name."""
    today = datetime.now(UTC).date()
    month = (today - timedelta(days=30)).isoformat()
    usual, largest = (f"statements?customer_id={world[name]}" for name in ("usual", "largest"))
    paths = {
        "ageing of receivables": "ageing?kind=receivable",
        "ageing of payables": "ageing?kind=payable",
        "ageing of the largest customer": f"ageing?kind=receivable&customer_id={world['largest']}",
        "statement of the largest customer": largest,
        "statement of the largest customer, 30 days": f"{largest}&from={month}",
        "statement of a usual customer": usual,
        "dunning list": "dunning",
    }
    return {name: f"/api/v1/finance/{path}" for name, path in paths.items()}


def finance(folder: Path | None, customers: int, payments: int, seconds: float, seed_only: bool) -> Figures:
    """Measure each request for `seconds`; the data set is made in the first run and kept in `folder`."""
    folder = folder or CACHE / f"finance-{payments}"
    for needed in (CACHE, folder):
        needed.mkdir(parents=True, exist_ok=True)
    os.sched_setaffinity(0, {OTHER_CORE})  # for mongod and the client, so that the server has its core to itself
    embedded = acquire(folder)
    try:
        with MongoClient[Figures](embedded.uri, tz_aware=True) as client:
            world = _the_books(folder, embedded.uri, customers, payments, client)
            if seed_only:
                return {}
            return _measured(folder, world | {"uri": embedded.uri}, client, seconds)
    finally:
        embedded.release_and_wait(15)


def _the_books(folder: Path, uri: str, customers: int, payments: int, client: MongoClient[Figures]) -> Figures:
    path = folder / "books.json"
    if path.exists():
        world: Figures = json.loads(path.read_text())
        if (world["customers"], world["payments"]) == (customers, payments):
            return world
    client.drop_database(DATABASE)
    started = time.monotonic()
    print(f"making {customers:,} customers and {payments:,} payments …", flush=True)
    world = {"uri": uri, "secret": new_secret(), "admin_password": secrets.token_urlsafe(12) + "-aZ7"}
    with tradewind("tradewind", folder, world) as server:
        world |= make_world(server.port, uri, world["admin_password"], customers, 0)
        world |= make_books(uri, payments) | {"payments": payments}
    remember(path, world)
    print(f"made in {time.monotonic() - started:.0f} s", flush=True)
    return world


def _measured(folder: Path, world: Figures, client: MongoClient[Figures], seconds: float) -> Figures:
    database = client[DATABASE]
    figures = {**about(1, seconds, world["customers"]), "connections": 1, "load": "http.client"}
    figures |= {
        "payments": world["payments"],
        "documents": {name: database[name].estimated_document_count() for name in _COLLECTIONS},
    }
    with tradewind("tradewind", folder, world) as server:
        token = Api(server.port).log_in("admin", world["admin_password"])
        figures["empty_request_ms"] = empty_ms = _time_empty_request(server.port, token, seconds)
        figures["finance"] = {
            name: _beside_least(beside_its_pipelines(server, database, path, token, seconds, _LEAST_PAIRS), empty_ms)
            for name, path in asked(world).items()
        }
    return figures


def _time_empty_request(port: int, token: str, seconds: float) -> float:
    """Return the median time, in ms, of a request with a token and a permission that reads nothing."""
    times: list[float] = []
    with connection(port, token) as ask:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            started = time.perf_counter()
            ask(_EMPTY)
            times.append(time.perf_counter() - started)
    return round(statistics.median(times) * 1000, 2)


def _beside_least(figures: Figures, empty_ms: float) -> Figures:
    """Return the figures with their ratio to the least possible time: that of an empty request plus the pipelines."""
    return {**figures, "of_least": round(figures["served_ms"] / (figures["alone_ms"] + empty_ms), 3)}
