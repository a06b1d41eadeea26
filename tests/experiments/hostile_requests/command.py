"""`python -m tests.experiments.hostile_requests`: selects the attacks to run, and writes their figures to a file."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.experiments.hostile_requests.generated import attack_generated
from tests.experiments.hostile_requests.injections import attack_injections
from tests.experiments.hostile_requests.references import attack_references
from tests.experiments.hostile_requests.sizes import attack_connections, attack_growth
from tests.experiments.hostile_requests.strings import attack_strings
from tests.experiments.hostile_requests.target import Part, Target
from tests.experiments.hostile_requests.tokens import attack_tokens
from tests.experiments.tool_environment import python_with
from tests.support.replica_sets import ROOT, Server, free_ports

RESULTS = ROOT / "tests" / "experiments" / "results"
_CACHE = ROOT / ".data" / "hostile"
_REQUIREMENTS = Path(__file__).with_name("requirements.txt")
_GENERATED_SECONDS = 100
_SHOWN_FAULTS = 8

Attacks = dict[str, Callable[[], Awaitable[Part]]]


def main(arguments: Sequence[str]) -> int:
    """Run the attacks one after the other, and return 0 if they found no fault, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.experiments.hostile_requests",
        description="Attack a server that is started for it, on this machine only: about ten minutes.",
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="tokens, injections, references, …; all without any")
    parser.add_argument("--quick", action="store_true", help="a tenth of what is generated; the result is not kept")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the processes it started are ended too
    python = python_with(_REQUIREMENTS, _CACHE / "venv")
    with tempfile.TemporaryDirectory(prefix="tradewind-hostile-", ignore_cleanup_errors=True) as folder:
        parts = asyncio.run(_run(Path(folder), python, given.parts, given.quick))
    _print(parts)
    if not given.quick and not given.parts:
        _keep(parts)
    return int(any(part.fault_count for part in parts))


async def _run(folder: Path, python: Path, names: Sequence[str], quick: bool) -> list[Part]:
    server = Server(folder, "hostile", free_ports(1)[0], demo="true", access_token_minutes="600")
    try:
        await asyncio.to_thread(server.start)
        target = await Target(server).prepare()
        attacks = _attacks(target, python, folder, quick)
        unknown = [name for name in names if name not in attacks]
        if unknown:
            raise SystemExit(
                f"python -m tests.experiments.hostile_requests: unknown part {', '.join(unknown)}; there are {', '.join(attacks)}"
            )
        parts = []
        for name in names or attacks:
            began = time.monotonic()
            part = await attacks[name]()
            part.notes["took"] = f"{time.monotonic() - began:.0f} s"
            print(f"{part.name}: {part.requests} requests, {part.fault_count} faults, {part.notes}", flush=True)
            parts.append(part)
        parts.append(_server_part(server))
        return parts
    finally:
        await asyncio.to_thread(server.stop)
        shutil.copy(server.log, _CACHE / "server.log")


def _attacks(target: Target, python: Path, folder: Path, quick: bool) -> Attacks:
    seconds = 10 if quick else _GENERATED_SECONDS
    return {
        "tokens": lambda: attack_tokens(target),
        "injections": lambda: attack_injections(target, "administrator"),
        "person-injections": lambda: attack_injections(target, "ordinary person"),
        "references": lambda: attack_references(target),
        "strings": lambda: attack_strings(target, python),
        "connections": lambda: attack_connections(quick),
        "growth": lambda: attack_growth(target),
        "administrator": lambda: attack_generated(target, python, "administrator", seconds, folder),
        "person": lambda: attack_generated(target, python, "ordinary person", seconds, folder),
    }


def _server_part(server: Server) -> Part:
    """Return the errors in the server's own log, its memory and its handles after all attacks."""
    part = Part("the server's log")
    for line in server.errors():
        part.fault(line)
    part.notes = {"resident memory": f"{server.rss_mib():.0f} MiB", "handles": server.handles()}
    return part


def _print(parts: Sequence[Part]) -> None:
    print(f"\n{sum(part.requests for part in parts)} requests, {sum(part.fault_count for part in parts)} faults")
    for part in parts:
        for fault in part.faults[:_SHOWN_FAULTS]:
            print(f"  {part.name}: {fault[:200]}")


def _keep(parts: Sequence[Part]) -> None:
    now = datetime.now(UTC)
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    result: dict[str, Any] = {
        "when": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "commit": commit,
        "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.system()},
        "requests": sum(part.requests for part in parts),
        "faults": sum(part.fault_count for part in parts),
        "parts": [
            {
                "name": part.name,
                "requests": part.requests,
                "outcomes": dict(part.outcomes.most_common()),
                "slowest_seconds": round(part.slowest, 2),
                "faults": part.faults,
                **part.notes,
            }
            for part in parts
        ],
    }
    path = RESULTS / f"hostile-{now:%Y-%m-%d}.json"
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
