"""Tradewind beside an older checkout of itself: the same works in turn, each version on a data set that it made.

An older version cannot be measured on a copy of a newer one's database: its indexes and stored fields differ. Each round
has new server processes: where a process happens to have its memory makes it up to a tenth faster or slower for good.
A round measures each work four times, one version first and last and the other between, so that order favours neither.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pymongo import MongoClient

from config.embedded import acquire
from tests.experiments.benchmark.agreement import check
from tests.experiments.benchmark.compare import (
    OTHER_CORE,
    ROOT,
    Figures,
    Server,
    about,
    neighbours,
    summed,
    the_world,
    tidy,
    timed,
    tradewind,
    wait_until_idle,
)
from tests.experiments.benchmark.report import BEFORE
from tests.experiments.benchmark.works import Work, works
from tests.experiments.benchmark.world import PASSWORD, log_everybody_in, remembered


@dataclass
class Version:
    """One checkout: how to start its server, the works to measure, its database, and the pid of its mongod."""

    name: str
    start: Callable[[], AbstractContextManager[Server]]
    works: dict[str, Work]
    client: MongoClient[Figures]
    mongod: int


def versions(
    before: Path, codes: Sequence[str], rounds: int, seconds: float, customers: int, after: Path = ROOT
) -> Figures:
    """Measure the works `codes`, or all of them if there are none, in the checkout `after` and the older `before`."""
    for source in {before, after} - {ROOT}:
        make_data_set(source, customers)
    os.sched_setaffinity(0, {OTHER_CORE})  # processes started from here inherit it: mongod and the load
    with ExitStack() as stack:
        both = [
            stack.enter_context(version(name, source, customers))
            for name, source in (("tradewind", after), (BEFORE, before))
        ]
        chosen = [code for code in both[0].works if code in both[1].works and (not codes or code in codes)]
        seen: dict[str, dict[str, list[Figures]]] = {code: {one.name: [] for one in both} for code in chosen}
        for number in range(rounds):
            with ExitStack() as round_of_both:
                order = both if number % 2 == 0 else both[::-1]
                started = [(one, round_of_both.enter_context(one.start())) for one in order]
                for code in chosen:
                    for one, server in (*started, *started[::-1]):
                        seen[code][one.name].append(measure(one, server, code, seconds))
            print(f"round {number + 1} of {rounds}", flush=True)
        return {
            **about(rounds, seconds, customers),
            "commits": {"tradewind": commit(after), BEFORE: commit(before)},
            "works": {code: told(both[0].works[code], seen[code]) for code in chosen},
        }


def told(work: Work, seen: dict[str, list[Figures]]) -> Figures:
    """Return the figures of one work by version, and the ratio of the two."""
    servers = {name: summed(figures) for name, figures in seen.items()}
    ratio = ratio_of(seen, "p99_ms" if work.latency else "per_second")
    return {"title": work.title, "aim": 0, "latency": work.latency, "servers": servers, "ratio": ratio}


def ratio_of(seen: dict[str, list[Figures]], figure: str) -> Figures:
    """Return this version ÷ the older one: the median of the rounds, and between which values their middle half lies.

    The four measurements of a round follow each other, so a machine that becomes slower or faster changes all of them.
    """
    pairs = zip(*(_sums_of_rounds(figures, figure) for figures in seen.values()), strict=True)
    ratios = [ours / before for ours, before in pairs if before]
    if len(ratios) < 2:
        return {"median": ratios[0] if ratios else 0.0}
    low, median, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return {"median": round(median, 3), "low": round(low, 3), "high": round(high, 3)}


def _sums_of_rounds(figures: list[Figures], figure: str) -> list[float]:
    """Return the sum of the two measurements of each round."""
    return [first[figure] + second[figure] for first, second in zip(figures[::2], figures[1::2], strict=True)]


def measure(one: Version, server: Server, code: str, seconds: float) -> Figures:
    """Measure one round of one work."""
    wait_until_idle(one.client)
    figures = timed(one.works[code], server, one.mongod, seconds)
    print(
        f"{code:4}{one.name:20}{figures['per_second']:9.0f}/s  p99 {figures['p99_ms']:8.2f} ms"
        f"  server {figures['server_us']:5.0f} us",
        flush=True,
    )
    if code.startswith("W5"):
        tidy(one.client)
    return figures


def data_set_of(source: Path, customers: int) -> Path:
    """Return the folder in which a checkout keeps its data set."""
    return source / ".data" / "bench" / f"world-{customers}"


def commit(source: Path) -> str:
    """Return the commit of a checkout."""
    command = ["git", "-C", str(source), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make_data_set(source: Path, customers: int) -> None:
    """Let an older checkout make its data set, if it has none yet, by a short run of its own benchmark."""
    if remembered(data_set_of(source, customers) / "world.json", customers) is None:
        arguments = ["--servers", "tradewind", "--only", "W1", "--quick", "--customers", str(customers)]
        script = source / "scripts" / "bench"  # of versions whose benchmark was no experiment yet
        command = [script] if script.exists() else [sys.executable, "-m", "tests.experiments.benchmark"]
        subprocess.run([*command, *arguments], cwd=source, check=True)


@contextmanager
def version(name: str, source: Path, customers: int) -> Iterator[Version]:
    """Run the database of a checkout during the block."""
    folder = data_set_of(source, customers)
    folder.mkdir(parents=True, exist_ok=True)
    embedded = acquire(folder)
    try:
        world = the_world(folder, embedded.uri, customers)
        world["records"] = neighbours(embedded.uri, world["customer"]["region"])
        start = partial(tradewind, name, folder, world, source)
        with MongoClient[Figures](embedded.uri) as client:
            pid = int(client.admin.command("serverStatus")["pid"])
            yield Version(name, start, checked_works(name, start, world), client, pid)
    finally:
        embedded.release_and_wait(15)


def checked_works(name: str, start: Callable[[], AbstractContextManager[Server]], world: Figures) -> dict[str, Work]:
    """Return the works by their code, after checking the responses of a server to them."""
    checked = {}
    with start() as server:
        for work in works(world, log_everybody_in(server.port, world), PASSWORD):
            total = check(work, {name: server.port})
            checked[work.code] = replace(work, title=work.title.format(total=total))
    return checked
