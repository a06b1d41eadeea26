"""The works that are measured: what is sent, by whom, and the aim in comparison with FastAPI."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CONNECTIONS = 32
LOGINS = 8


@dataclass(frozen=True)
class Call:
    """A request; each `{n}` in the body is replaced by a new number."""

    method: str
    path: str
    token: str | None = None
    body: str = ""


@dataclass(frozen=True)
class Work:
    """Calls that are sent in turn over 32 connections. `aim` is × FastAPI (of the p99 for a `latency` work).

    `title` may contain the `{total}` of the requested list.
    `seconds`: the least duration of a round, for works whose requests may take a second.
    """

    code: str
    title: str
    aim: float
    calls: tuple[Call, ...]
    latency: bool = False
    beside: tuple[Call, ...] = ()
    ours_alone: bool = False
    seconds: float = 0.0


RECORD = {
    "name": "晨光科技",
    "code": "R-{n}",
    "industry": "manufacturing",
    "level": "A",
    "source": "referral",
    "phone": "021-5555 0100",
    "email": "office@example.com",
    "website": "https://example.com",
    "address": "世纪大道1号",
    "amount": "1234.50",
    "tags": ["new", "north"],
    "remark": "met at the fair",
}


def works(world: Mapping[str, Any], tokens: Mapping[str, list[str]], password: str) -> tuple[Work, ...]:
    """Return W1 to W7 for the people who are logged in."""
    director, regions, divisions = tokens["director"][0], tokens["region"], tokens["division"]
    body = json.dumps(RECORD, ensure_ascii=False)
    customer = {key: value for key, value in RECORD.items() if key not in ("amount", "website")} | {
        "code": "N-{n}",
        "name": "新客户{n}",
        "phone": "021-9{n}",
        "owner_id": None,
    }
    ping = (Call("GET", "/api/v1/bench/ping", director),)
    logins = tuple(
        Call("POST", "/api/v1/auth/login", None, json.dumps({"username": name, "password": password}))
        for name in world["people"]["director"][:LOGINS]
    )
    return (
        Work("W1", "liveness", 5, (Call("GET", "/api/health"),)),
        Work("W2", "token + permission, no database", 5, ping),
        Work(
            "W3",
            "one record, in scope",
            4,
            tuple(Call("GET", f"/api/v1/crm/customers/{id}", regions[0]) for id in world["records"]),
        ),
        Work("W4", "20 of {total} in scope, with total", 2, _pages(regions)),
        Work("W4w", "20 of {total} under 49 departments", 3, _pages(divisions), seconds=5),
        Work("W5", "create, 12 fields validated", 3, (Call("POST", "/api/v1/bench/records", director, body),)),
        Work(
            "W5c",
            "create a customer: duplicates, pinyin",
            0,
            (Call("POST", "/api/v1/crm/customers", director, json.dumps(customer, ensure_ascii=False)),),
            ours_alone=True,
        ),
        Work(
            "W6", "sales trend, 30 days", 5, (Call("GET", "/api/dashboard/sales-trend?days=30", director),), seconds=5
        ),
        Work("W7", "W2's p99 while 8 people log in", 0.1, ping, latency=True, beside=logins, seconds=5),
    )


def _pages(tokens: list[str]) -> tuple[Call, ...]:
    """Return requests for the first four pages, by several people in turn."""
    return tuple(
        Call("GET", f"/api/v1/crm/customers?page={page}&page_size=20", token)
        for page, token in itertools.product(range(1, 5), tokens)
    )
