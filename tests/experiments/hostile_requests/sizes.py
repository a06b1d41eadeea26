"""Hostile bytes on connections, and inputs that double in size."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from urllib.parse import quote

from tests.experiments.fault_injection.clients import Connection, Liveness, Reply
from tests.experiments.growing_inputs import BOUNDARY, CSV, CURSORS, HTML, JSON, MARKDOWN, MULTIPART, SEARCH, SVG, XLSX
from tests.experiments.hostile_requests.target import Attack, Part, Target
from tests.support.hostile_http.compare import compare_known, run

_GENERATED = 20_000
_SIZES = (1 << 10, 1 << 14, 1 << 18)
_SLOWEST_SECONDS = 12.0  # a worker process may take its ten seconds
_IMPORT = "/api/v1/crm/customers/import"
_ARTICLES = "/api/v1/cms/manage/articles"


async def attack_connections(quick: bool) -> Part:
    """Compare both connections and llhttp with a strict reading; a difference without an argument is a fault."""
    part = Part("hostile connections")
    seed = f"{time.time():.0f}"
    for report in (await compare_known(), await run(_GENERATED // (10 if quick else 1), seed)):
        part.outcomes["compared"] += report.connections
        for case in report.differences:
            part.fault(f"{case.reader}: {case.sent[:200]!r}: {case.found} in place of {case.strict}")
        part.notes["argued"] = part.notes.get("argued", 0) + report.argued.total()
    part.notes["seed"] = seed
    return part


async def attack_growth(target: Target) -> Part:
    """Send each input that a careless parser is slow at, from 1 KiB to 256 KiB, one at a time, and watch liveness."""
    part = Part("doubling inputs")
    connection = Connection(target.server.port, target.admin.token)
    with Liveness(target.server.port) as probe:
        for name, attack in _inputs():
            began = time.monotonic()
            reply = await attack(connection)
            seconds = time.monotonic() - began
            part.outcomes[reply.outcome] += 1
            part.slowest = max(part.slowest, seconds)
            if reply.fault or reply.status in (500, 502, 504) or seconds > _SLOWEST_SECONDS:
                part.fault(f"{name}: {reply.outcome} after {seconds:.1f} s")
        waits, echo = await asyncio.to_thread(probe.result)
    part.notes = {"liveness, slowest ms": waits.slowest_ms(), "echo, slowest ms": echo.slowest_ms()}
    if waits.failed:
        part.fault(f"liveness failed {len(waits.failed)} times")
    connection.drop()
    return part


def _inputs() -> Iterator[tuple[str, Attack]]:
    for size in _SIZES:
        for name, make in JSON.items():
            yield f"JSON {name} {size}", _raw("/api/v1/crm/customers", make(size), "application/json")
        for name, make in HTML.items():
            yield f"HTML {name} {size}", _article("html", "content", make(size))
        for name, make in MARKDOWN.items():
            yield f"Markdown {name} {size}", _article("markdown", "source", make(size))
        for name, make in MULTIPART.items():
            yield (
                f"multipart {name} {size}",
                _raw("/api/upload", make(size), f"multipart/form-data; boundary={BOUNDARY}"),
            )
        for name, make in SVG.items():
            yield f"SVG {name} {size}", _file("/api/upload", "drawing.svg", make(size))
        for kind, makers in (("csv", CSV), ("xlsx", XLSX)):
            for name, make in makers.items():
                yield f"{kind} {name} {size}", _file(f"{_IMPORT}", f"table.{kind}", make(size))
    for size in (64, 200, 2000):
        for kind, makers in (("q", SEARCH), ("cursor", CURSORS)):
            for name, make in makers.items():
                path = f"/api/v1/crm/customers?{kind}={quote(make(size))}"
                yield f"{kind} {name} {size}", _raw(path, None, "")


def _raw(path: str, content: bytes | None, media_type: str) -> Attack:
    async def attack(connection: Connection) -> Reply:
        if content is None:
            return await connection.call("GET", path)
        return await connection.call("POST", path, content=content, headers={"Content-Type": media_type})

    return attack


def _article(form: str, field: str, content: bytes) -> Attack:
    body = {"title": "growing", "format": form, field: content.decode()}
    return _raw(_ARTICLES, json.dumps(body).encode(), "application/json")


def _file(path: str, name: str, content: bytes) -> Attack:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="dry_run"\r\n\r\ntrue\r\n' if path == _IMPORT else ""
    head += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
    return _raw(path, body, f"multipart/form-data; boundary={BOUNDARY}")
