"""`python -m tests.experiments.benchmark`: selects what to measure, and writes the figures."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.experiments.benchmark.chain import chain
from tests.experiments.benchmark.compare import EVERYBODY, OURS, Figures, available, compare
from tests.experiments.benchmark.dashboards import Sizes, dashboards, keep
from tests.experiments.benchmark.finance import finance
from tests.experiments.benchmark.report import RESULTS, ROOT, chart, table, write_document
from tests.experiments.benchmark.versions import versions
from tests.experiments.sizing import write_sizing

_OTHERS = ("dashboards", "finance", "chain", "console")


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write the raw result; with `--write` also the table of results/speed.md and its picture."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.experiments.benchmark", description="Tradewind beside its peers."
    )
    parser.add_argument("what", nargs="?", choices=("peers", *_OTHERS), default="peers")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each work in each round")
    works = "works, comma separated: W1,W4w; for chain: invoice,delivery; for console one of clone, login, lists"
    parser.add_argument("--only", default="", help=works)
    parser.add_argument("--servers", default="", help=f"of {', '.join((*EVERYBODY, *OURS))}")
    parser.add_argument(
        "--before", type=Path, help="an older checkout of Tradewind to measure beside, in place of peers"
    )
    parser.add_argument("--after", type=Path, help="with --before: a checkout to measure in place of this one")
    parser.add_argument(
        "--customers", type=int, help="100,000 unless given; for dashboards 200,000, for finance 20,000"
    )
    parser.add_argument(
        "--payments", type=int, help="for dashboards five for each customer, for finance 50, unless given"
    )
    parser.add_argument("--folder", type=Path, help="for dashboards, finance, chain: where the data set is kept")
    parser.add_argument(
        "--seed-only", action="store_true", help="for dashboards, finance, console: make the data set, measure nothing"
    )
    parser.add_argument("--write", action="store_true", help="write the table into results/speed.md")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the processes it started are ended too
    rounds, seconds = (1, 0.3) if given.quick else (given.rounds, given.seconds)
    if given.what in _OTHERS:
        run = {"dashboards": _dashboards, "finance": _finance, "chain": _chain, "console": _console}
        return run[given.what](given)
    customers = given.customers or 100_000
    if given.before:
        after = (given.after or ROOT).resolve()
        figures = versions(given.before.resolve(), _names(given.only), rounds, seconds, customers, after)
    else:
        figures = compare(_names(given.servers) or available(), _names(given.only), rounds, seconds, customers)
    RESULTS.mkdir(exist_ok=True)
    size = (
        (f"-{figures['commits']['tradewind']}" if given.after else "")
        + ("-before" if given.before else "")
        + ("" if customers == 100_000 else f"-{customers}")
        + ("-quick" if given.quick else "")
    )
    (RESULTS / f"bench-{figures['when'][:10]}{size}.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(table(figures))
    if given.write:
        (RESULTS / "bench.svg").write_text(chart(figures))
        write_document(figures)
        write_sizing()
    return 0


def _console(given: argparse.Namespace) -> int:
    from tests.experiments.benchmark.console import console  # late, because it needs a browser

    rounds = 1 if given.quick else given.rounds
    figures = console(given.only, given.customers or (2_000 if given.quick else 1_000_000), rounds, given.seed_only)
    if not given.quick and not given.seed_only:
        path = RESULTS / f"console-{figures['when'][:10]}.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**known, **figures}, indent=1) + "\n")  # keeps the other parts of the same day
    return 0


def _dashboards(given: argparse.Namespace) -> int:
    customers = given.customers or (2_000 if given.quick else 200_000)
    sizes = Sizes(customers, given.payments or customers * 5)
    figures = dashboards(
        given.folder, sizes, 0.3 if given.quick else given.seconds, _names(given.only), given.seed_only
    )
    if figures and not given.quick:
        print(keep(figures))
    return 0


def _finance(given: argparse.Namespace) -> int:
    customers = given.customers or (200 if given.quick else 20_000)
    seconds = 0.3 if given.quick else given.seconds
    figures = finance(given.folder, customers, given.payments or customers * 50, seconds, given.seed_only)
    return _keep(given, "finance", figures)


def _chain(given: argparse.Namespace) -> int:
    rounds = 1 if given.quick else given.rounds
    return _keep(given, "chain-cost", chain(given.before, rounds, _names(given.only), given.folder))


def _keep(given: argparse.Namespace, name: str, figures: Figures) -> int:
    """Write the raw result of a measurement, unless it is a quick one."""
    if figures and not given.quick:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{name}-{figures['when'][:10]}.json"
        path.write_text(json.dumps(figures, indent=1) + "\n")
        print(path)
    return 0


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
