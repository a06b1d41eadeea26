"""`tests/experiments/results/reliability.md`: the faults that the experiments of `fault_injection` cause, and what clients noticed of them.

The figures are from `tests/experiments/results/faults.json`, the descriptions from the experiments, which renew the page.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.experiments.fault_injection.command import EXPERIMENTS, RESULTS

_HEAD = """\
# Reliability

What was hurt, how, and what clients noticed. `python -m tests.experiments.fault_injection` runs these experiments on one
machine, with real servers, a real MongoDB and connections over loopback; the clients retry nothing unless a line says so. The
newest result of each is in `tests/experiments/results`, and they make this page from it, good lines and bad ones. Servers,
database and clients share the {cores} cores of that machine, so times are longer than on three machines; in replica-set, database and clients
have a lower priority than the servers. "Of its own" is what a response took without the time in which its server waited for a
processor.

Codes: `0` is success; `50300` is "not available now", with `Retry-After`, and is what a client sees of a database without
primary; anything else in a line is written as it came. "Acknowledged writes" are looked up one by one in the database.

"""
PAGE = RESULTS.parent / "reliability.md"
_GOOD, _BAD, _SEEN = "good", "**bad**", ""


@dataclass(frozen=True)
class Result:
    """The newest run of an experiment: its day, time, commit and lines."""

    day: str
    when: str
    commit: str
    lines: Sequence[Mapping[str, Any]]

    def count(self, holds: bool) -> int:
        """Return how many of the lines are as expected or, with `holds=False`, are not."""
        return sum(line["holds"] is holds for line in self.lines)


def write_reliability() -> None:
    """Write the page anew from the results."""
    PAGE.write_text(render_reliability())


def render_reliability(path: Path = RESULTS) -> str:
    """Return the text of the whole page."""
    kept = json.loads(path.read_text())
    results = {name: Result(**one) for name, one in kept["experiments"].items()}
    parts = [_HEAD.format(cores=kept["machine"]["cores"]), *_summary(results), *_bad_lines(results)]
    for name in EXPERIMENTS:
        parts += _section(name, results.get(name))
    return "".join(parts).rstrip("\n") + "\n"


def _summary(results: Mapping[str, Result]) -> Iterator[str]:
    yield "| Experiment | What was hurt | Good | Bad |\n| --- | --- | ---: | ---: |\n"
    for name in EXPERIMENTS:
        result = results.get(name)
        counts = f"{result.count(True)} | {result.count(False)}" if result else "not run | "
        yield f"| [{name}](#{name}) | {_hurt(name)} | {counts} |\n"
    yield "\n"


def _bad_lines(results: Mapping[str, Result]) -> Iterator[str]:
    yield "## What is not as it should be\n\n"
    bad = [
        f"- [{name}](#{name}): {_cell(line['measure'])}: {_cell(line['figure'])} (expected: {_cell(line['expected'])})\n"
        for name in EXPERIMENTS
        if name in results
        for line in results[name].lines
        if line["holds"] is False
    ]
    yield from bad or ["Every figure is as expected.\n"]
    yield "\n"


def _section(name: str, result: Result | None) -> Iterator[str]:
    yield f"## {name}\n\n{_hurt(name)} {_how(name)}\n\n"
    if result is None:
        yield "There is no result yet.\n\n"
        return
    yield f"{result.day} {result.when}, commit {result.commit}.\n\n"
    yield "| What clients noticed | Figure | Expected | |\n| --- | --- | --- | --- |\n"
    for line in result.lines:
        verdict = {True: _GOOD, False: _BAD, None: _SEEN}[line["holds"]]
        yield f"| {_cell(line['measure'])} | {_cell(line['figure'])} | {_cell(line['expected'])} | {verdict} |\n"
    yield "\n"


def _hurt(name: str) -> str:
    """Return what an experiment does to the service: the first paragraph of its module's docstring."""
    return inspect.cleandoc(inspect.getmodule(EXPERIMENTS[name]).__doc__ or "").partition("\n\n")[0].replace("\n", " ")


def _how(name: str) -> str:
    return inspect.cleandoc(EXPERIMENTS[name].__doc__ or "").replace("\n\n", " ").replace("\n", " ")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
