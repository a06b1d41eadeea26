"""`scripts/bench`: what to measure, and where the figures go."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from scripts.benchmark.compare import EVERYBODY, OURS, available, compare
from scripts.benchmark.foundation import RESULTS, foundation
from scripts.benchmark.growth import growth
from scripts.benchmark.report import chart, table, write_readme


def main(arguments: Sequence[str]) -> int:
    """Measure, print, write the raw result; with `--write` the README's table and its picture too."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Tradewind beside its peers.")
    parser.add_argument("what", nargs="?", choices=("peers", "foundation", "growth"), default="peers")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each work in each round")
    parser.add_argument("--only", default="", help="works, comma separated: W1,W4w")
    parser.add_argument("--servers", default="", help=f"of {', '.join((*EVERYBODY, *OURS))}")
    parser.add_argument("--customers", type=int, default=100_000)
    parser.add_argument("--write", action="store_true", help="write the table into the README")
    given = parser.parse_args(arguments)
    rounds, seconds = (1, 1.0) if given.quick else (given.rounds, given.seconds)
    if given.what == "foundation":
        print(json.dumps(foundation(rounds), indent=1))
        return 0
    if given.what == "growth":
        print(json.dumps(growth(), indent=1))
        return 0
    figures = compare(_names(given.servers) or available(), _names(given.only), rounds, seconds, given.customers)
    RESULTS.mkdir(exist_ok=True)
    size = "" if given.customers == 100_000 else f"-{given.customers}"
    (RESULTS / f"bench-{figures['when'][:10]}{size}.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(table(figures))
    if given.write:
        (RESULTS / "bench.svg").write_text(chart(figures))
        write_readme(figures)
    return 0


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
