"""A random company on a server and a database of its own, and then nothing of it: `--help` says how."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from plugins.testing import Client
from scripts.memory import folder_in_memory
from tests.support.killable_site import ROOT, Site, site_at
from tests.support.random_company.comparing import differences
from tests.support.random_company.office import Office, open_office
from tests.support.random_company.reversing import reverse_all
from tests.support.random_company.rounds import Disagreement, Tally, open_stock, trade

RESULTS = ROOT / "tests" / "experiments" / "results"
_PATIENCE = 120.0  # seconds for which a request is repeated
_ROOM_BYTES = 4 << 30
_POLL_SECONDS = 0.02


def main(arguments: Sequence[str]) -> int:
    """Run a company; 0 when it came to what the model says, and to nothing once everything was reversed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.experiments.random_company",
        description="Four people buy, sell, pay and change their minds at once; after each hundred documents every "
        "figure is compared with a model, and in the end each document is reversed in random order.",
    )
    parser.add_argument("--documents", type=int, default=10_000, help="how many (default: %(default)s)")
    parser.add_argument("--every", type=int, default=100, help="compare after so many (default: %(default)s)")
    parser.add_argument("--audit", type=int, default=10, help="audit with every so many comparisons")
    parser.add_argument("--kills", type=int, default=0, help="kill -9 of the server and of the database in turn")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="of what happens")
    parser.add_argument(
        "--keep", metavar="NAME", help="write the figures into tests/experiments/results, under this name"
    )
    given = parser.parse_args(arguments)
    tally, figures = Tally(), dict[str, Any]()
    try:
        with tempfile.TemporaryDirectory(
            prefix="tradewind-chain-", dir=folder_in_memory(_ROOM_BYTES), ignore_cleanup_errors=True
        ) as folder:
            found = asyncio.run(_run(Path(folder), given, tally, figures))
    except Disagreement as disagreement:
        found = [str(disagreement)]
    figures |= {
        "seed": given.seed,
        "documents": tally.documents,
        "by kind": dict(tally.made.most_common()),
        "refused": dict(tally.refused.most_common()),
        "rounds in another order than sent": tally.reordered,
        "differences": found,
    }
    print(json.dumps(figures, indent=1))
    if given.keep:
        _keep(given.keep, figures)
    return int(bool(found))


async def _run(folder: Path, given: argparse.Namespace, tally: Tally, figures: dict[str, Any]) -> list[str]:
    async with site_at(folder) as site:
        admin = await Client(site.url).log_in("admin")
        office = await open_office(admin, given.seed, _PATIENCE if given.kills else 0.0)
        began = time.monotonic()
        await open_stock(office, tally)
        async with _killing(site, tally, given.documents, given.kills) as killed:
            found = await _trade(office, given, tally)
        figures |= {"traded in seconds": round(time.monotonic() - began), "documents traded": tally.documents}
        people = [*office.people, office.manager, office.half]
        figures |= {"kills": killed, "requests sent again": sum(one.lost for one in people)}
        if found:
            return found
        began = time.monotonic()
        figures["passes of reversal"] = await reverse_all(office, tally)
        figures["reversed in seconds"] = round(time.monotonic() - began)
        return [*await differences(office, tally), *leftovers(office)]


async def _trade(office: Office, given: argparse.Namespace, tally: Tally) -> list[str]:
    began, turn = time.monotonic(), 0
    while tally.documents < given.documents:
        turn += 1
        await trade(office, min(given.every, given.documents - tally.documents), tally)
        audit = turn % given.audit == 0 or tally.documents >= given.documents
        found = await differences(office, tally, audit=audit)
        print(f"{tally.documents:6} documents, {time.monotonic() - began:5.0f} s, {len(found)} differences", flush=True)
        if found:
            return found
    return []


def leftovers(office: Office) -> list[str]:
    """What is not zero after everything was reversed."""
    model = office.model
    rows = [("stock", key, pair) for key, pair in model.stock.items()]
    rows += [("open item", key, (one["amount"], one["paid"])) for key, one in model.items.items()]
    rows += [("balance", key, (amount,)) for key, amount in model.accounts.items()]
    return [f"{kind} {key} is left: {amounts}" for kind, key, amounts in rows if any(amounts)]


@asynccontextmanager
async def _killing(site: Site, tally: Tally, documents: int, kills: int) -> AsyncIterator[list[str]]:
    """While the block runs, kill the server and the database in turn, so many times."""
    done: list[str] = []
    killer = asyncio.create_task(_kill(site, tally, documents, kills, done))
    try:
        yield done
    finally:
        killer.cancel()
        with suppress(asyncio.CancelledError):
            await killer


async def _kill(site: Site, tally: Tally, documents: int, kills: int, done: list[str]) -> None:
    for turn in range(kills):
        while tally.documents < documents * (turn + 1) // (kills + 1):
            await asyncio.sleep(_POLL_SECONDS)
        if turn % 2:
            await site.kill_mongod()
        else:
            await site.kill()
            await site.start()
        done.append(f"{'database' if turn % 2 else 'server'} after {tally.documents}")


def _keep(name: str, figures: dict[str, Any]) -> None:
    now = datetime.now(UTC)
    path = RESULTS / f"chain-{now:%Y-%m-%d}.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    kept[name] = {"when": f"{now:%H:%M:%S}Z", "commit": commit, "machine": machine, **figures}
    path.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
