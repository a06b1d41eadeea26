"""The table of docs/operations/sizing.md: the cost of requests, as last measured by the benchmark."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.documents import DOCUMENTS, replace_tables, table_of

RESULTS = Path(__file__).resolve().parent / "results"
PAGE = DOCUMENTS / "operations" / "sizing.md"
_SMALL, _LARGE = re.compile(r"bench-\d{4}-\d\d-\d\d\.json"), re.compile(r"bench-\d{4}-\d\d-\d\d-1000000\.json")
_BUSY = 0.6  # the load of a core beyond which requests begin to wait for each other

Work = Mapping[str, Any]


def write_sizing() -> None:
    """Renew the table. Raises `ValueError` if the page lacks its marks."""
    PAGE.write_text(render_sizing())


def render_sizing(folder: Path = RESULTS) -> str:
    """Return the text of the whole page."""
    return replace_tables(PAGE.read_text(), {"sizing": table_of(*sizing_rows(folder))})


def sizing_rows(folder: Path = RESULTS) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the head and the rows: the processor time of each kind of request, and its rate per core, at two sizes."""
    small, large = _newest(folder, _SMALL), _newest(folder, _LARGE)
    head = [
        "Request",
        *(
            f"{run['customers']:,} customers: {what}"
            for run in (small, large)
            for what in ("service", "MongoDB", "a second on 60% of a core each")
        ),
    ]
    rows = [[work["title"], *_cells(work), *_cells(large["works"].get(name))] for name, work in small["works"].items()]
    return head, rows


def _newest(folder: Path, name: re.Pattern[str]) -> Mapping[str, Any]:
    result: Mapping[str, Any] = json.loads(
        max(path for path in folder.iterdir() if name.fullmatch(path.name)).read_text()
    )
    return result


def _cells(work: Work | None) -> list[str]:
    if work is None:
        return ["", "", ""]
    ours = work["servers"]["tradewind"]
    service, database = ours["server_us"]["median"], ours["mongod_us"]["median"]
    return [f"{service / 1000:.2f} ms", f"{database / 1000:.2f} ms", f"{_BUSY * 1e6 / max(service, database):,.0f}"]
