"""The order of the tests: what took longest before begins first, and what shares a server or a browser runs together."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[2]
DURATIONS = ROOT / "tests" / "durations.json"  # seconds of each group that takes one or more
ONE_GROUP = ("tests/browser/",)  # folders whose files share what is costly

_taken: Counter[str] = Counter()


class ByGroup(LoadScopeScheduling):
    """Gives each group to one runner."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """Return the group of a test: its file, or its folder where the folder shares what is costly."""
    return next((folder for folder in ONE_GROUP if nodeid.startswith(folder)), nodeid.partition("::")[0])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store-durations", action="store_true", help=f"write {DURATIONS.relative_to(ROOT)}")


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByGroup:
    return ByGroup(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the groups that took longest: begun last, one would keep a runner busy while the others are done."""
    durations: dict[str, float] = json.loads(DURATIONS.read_text())
    items.sort(key=lambda item: -durations.get(group_of(item.nodeid), 0))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _taken[group_of(report.nodeid)] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.option.store_durations and not hasattr(session.config, "workerinput"):
        known = {**json.loads(DURATIONS.read_text()), **_taken}
        long = {name: round(seconds) for name, seconds in sorted(known.items()) if seconds >= 1}
        DURATIONS.write_text(
            json.dumps({name: s for name, s in long.items() if (ROOT / name).exists()}, indent=1) + "\n"
        )
