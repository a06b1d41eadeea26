"""Requests that schemathesis generates from the OpenAPI document, as the administrator and as an ordinary person."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from tests.experiments.hostile_requests.target import Part, Target

# these end the session that the run uses, or empty the database
_LEFT_OUT = r"/auth/(logout|password|sessions|wecom/bind)|/system/(sessions|data-reset|users)|/ws$"
_CHECKS = "not_a_server_error,response_schema_conformance"
_METRIC = re.compile(r'^tradewind_requests_total\{.*status="(\d+)"\} (\S+)$', re.MULTILINE)  # paths contain braces


async def attack_generated(target: Target, python: Path, person: str, seconds: int, folder: Path) -> Part:
    """Run schemathesis for `seconds`; responses of 5xx, of undeclared shape or after over ten seconds are faults."""
    part = Part(f"schemathesis, {person}")
    token = target.admin.token if person == "administrator" else target.person.token
    report = folder / f"schemathesis-{person.split()[0]}.json"
    before = await _counted(target)
    process = await asyncio.create_subprocess_exec(
        str(python.parent / "schemathesis"),
        *("run", f"http://127.0.0.1:{target.server.port}/api/openapi.json"),
        *("--header", f"Authorization: Bearer {token}", "--header", "Accept-Language: en"),
        *("--max-time", str(seconds), "--workers", "2", "--checks", _CHECKS, "--max-response-time", "10"),
        *("--exclude-path-regex", _LEFT_OUT, "--report", "json", "--report-json-path", str(report)),
        *("--continue-on-failure", "--no-shrink", "--suppress-health-check", "all", "--request-timeout", "30"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folder,
    )
    written, _ = await asyncio.wait_for(process.communicate(), seconds * 3 + 300)
    (folder / f"{report.stem}.txt").write_bytes(written)
    after = await _counted(target)
    part.outcomes = after - before
    for status, count in part.outcomes.items():
        if status.startswith("5"):
            part.fault(f"{count} responses of {status}")
    part.notes = {"seconds": seconds}
    if report.exists():
        _read_report(json.loads(report.read_text()), part)
    else:
        part.fault(f"schemathesis did not run: {written.decode(errors='replace')[-300:]}")
    return part


async def _counted(target: Target) -> Counter[str]:
    """Return how many responses of each status the server has counted."""
    reader, writer = await asyncio.open_connection("127.0.0.1", target.server.port, limit=1 << 24)
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    text = (await reader.read()).decode()
    writer.close()
    counts: Counter[str] = Counter()
    for status, value in _METRIC.findall(text):
        counts[status] += int(float(value))
    return counts


def _read_report(report: dict[str, Any], part: Part) -> None:
    """Record the failed checks of schemathesis as faults, and note what it tested and what it could not test."""
    for failure in report["failures"]:
        part.fault(f"{failure['title']}: {failure['count']} times, {', '.join(failure['operations'][:3])}")
    part.notes |= {
        "operations tested": (report["operations"] or {}).get("tested", 0),
        "test cases": report["test_cases"]["generated"],
        "errors of schemathesis": {error["title"]: error["count"] for error in report["errors"]},
    }
    if not part.notes["operations tested"]:
        part.fault("schemathesis tested nothing")
