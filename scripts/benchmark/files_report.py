"""The table of large files, from the newest raw results of each mode, in the README of the plugin."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from scripts.benchmark.foundation import RESULTS, ROOT

README = ROOT / "plugins/files/README.md"
BEGIN, END = "<!-- bench -->", "<!-- /bench -->"
_COLUMNS = ("Storage, HTTP", "", "MB/s", "× plain", "× fair", "× floor", "processor s/GB", "peak memory grows by, MiB")
_NAME = re.compile(r"files-(local|s3)-(fast|tornado)(-moto)?-\d{4}-\d\d-\d\d")
Figures = dict[str, Any]


def write_readme() -> None:
    """Put the table between the marks of the README."""
    before, _, rest = README.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    if not after:
        raise ValueError(f"{README} has no {BEGIN} … {END}")
    README.write_text(f"{before}{BEGIN}\n{table(_newest())}\n{END}{after}")


def _newest() -> dict[str, Figures]:
    """The last result of each mode, by its name."""
    found = {}
    for path in sorted(RESULTS.glob("files-*.json"), key=lambda path: path.stem[-10:]):
        if _NAME.fullmatch(path.stem):
            found[path.stem[len("files-") : -len("-2026-01-01")]] = json.loads(path.read_text())
    return dict(sorted(found.items()))


def table(by_mode: dict[str, Figures]) -> str:
    """Two lines for each mode: its uploads and its downloads."""
    lines = [f"| {' | '.join(_COLUMNS)} |", f"| {' | '.join(['---'] * len(_COLUMNS))} |"]
    for mode, figures in by_mode.items():
        lines += [f"| {' | '.join((mode, *cells))} |" for cells in _rows(figures)]
    slow = [
        f"{mode} {figures['slow_uploaders']['ratio']}"
        for mode, figures in by_mode.items()
        if "slow_uploaders" in figures
    ]
    lines += [
        "",
        f"The p99 of a guarded route while 50 people upload at 10 kB/s, × the same without them: {', '.join(slow)}.",
    ]
    return "\n".join(lines)


def _rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    size = f"{figures['mebibytes']} MiB"
    for way in ("upload", "download"):
        ratio = {
            kind: value
            for name, value in figures["ratio"].items()
            for at, _, kind in [name.partition(" to ")]
            if at == way
        }
        fair = next(kind for kind in ratio if kind in ("careful", "relay"))
        grown = figures["peak_growth_mebibytes"][way]
        yield (
            f"{way}, {size}", f"{figures['megabytes_a_second'][way]['median']:.0f}", str(ratio["plain"]), f"{ratio[fair]} ({fair})",
            str(ratio.get("floor", "")), f"{figures['processor_seconds_a_gigabyte'][way]['median']:.1f}", f"{grown['max']:.0f}",
        )  # fmt: skip
