"""What all experiments use: a scratch folder, and the lines of their results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tests.experiments.fault_injection.load import Load
from tests.experiments.fault_injection.verification import verify
from tests.support.replica_sets import Server

T = TypeVar("T")


@dataclass(frozen=True)
class Line:
    """One figure. `holds` says whether it is as expected; it is None for a figure without an expectation."""

    experiment: str
    measure: str
    figure: str
    expected: str = ""
    holds: bool | None = None


@dataclass
class Bench:
    """A scratch folder, the scale of a run (1 is the whole experiment), and the lines that were measured."""

    folder: Path
    scale: float = 1.0
    options: dict[str, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    def times(self, count: int) -> int:
        """Return how many times to do what the whole experiment does `count` times, at least once."""
        return max(1, round(count * self.scale))

    def tell(
        self, experiment: str, measure: str, figure: object, expected: str = "", holds: bool | None = None
    ) -> None:
        """Print a figure and keep it."""
        line = Line(experiment, measure, str(figure), expected, holds)
        self.lines.append(line)
        verdict = {True: "ok  ", False: "FAIL", None: "    "}[holds]
        print(
            f"{verdict} {experiment}: {measure}: {figure}" + (f"  (expected {expected})" if expected else ""),
            flush=True,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the lines as they are written to the result file."""
        return [asdict(line) for line in self.lines]

    def subfolder(self, name: str) -> Path:
        """Create a folder inside the scratch folder."""
        made = self.folder / name
        made.mkdir(parents=True)
        return made


async def in_thread(function: Callable[..., T], *arguments: object) -> T:
    """Run a blocking function in a thread, so that the load goes on."""
    return await asyncio.to_thread(function, *arguments)


async def tell_books(bench: Bench, name: str, load: Load, servers: list[Server], uri: str) -> None:
    """Report the lines that end every experiment with a load: writes, ledgers, anomalies, errors in the log."""
    verdict = await in_thread(verify, load, uri)
    writes = f"{verdict.acknowledged} acknowledged, {len(verdict.faults)} lost, doubled or wrong"
    bench.tell(name, "acknowledged writes", writes, "0 lost, 0 doubled", not verdict.faults)
    for fault in verdict.faults[:5]:
        print("     ", fault, flush=True)
    ledgers = await in_thread(servers[0].ledgers)
    bench.tell(name, "ledgers", ledgers or "no difference", "no difference", not ledgers)
    counts = load.anomaly_counts()
    bench.tell(name, "responses that should never be", counts or 0, "0", not counts)
    for anomaly in load.anomalies[:5]:
        print("     ", anomaly, flush=True)
    errors = [line for server in servers for line in server.errors()]
    bench.tell(name, "log lines of level ERROR", len(errors), "0", not errors)
    for line in errors[:3]:
        print("     ", line[:900], flush=True)
