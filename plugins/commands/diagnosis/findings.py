"""The findings of `tradewind doctor`, and how they are printed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Literal

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")
_MOST_ROWS = 5  # of one check; JSON has all of them


@dataclass(frozen=True)
class Finding:
    """One finding: how severe it is, which check made it, what it is about, and what to do."""

    level: Level
    check: str
    subject: str
    advice: str


def as_table(findings: Sequence[Finding]) -> str:
    """Return the findings in plain columns, the worst first, and a closing line with the counts."""
    rows = list(_rows(findings))
    widths = [max(len(row[column]) for row in rows) for column in range(3)] if rows else []
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
    ]
    return "\n".join([*lines, summary(findings)])


def _rows(findings: Sequence[Finding]) -> Iterator[tuple[str, str, str, str]]:
    for (level, check), alike in groupby(_worst_first(findings), lambda one: (one.level, one.check)):
        shown = list(alike)
        yield from ((level, check, one.subject, one.advice) for one in shown[:_MOST_ROWS])
        if more := shown[_MOST_ROWS:]:
            yield level, check, f"{len(more)} more", "--json names them"


def as_json(findings: Sequence[Finding]) -> str:
    """Return the findings as JSON, the worst first, with the counts."""
    return json.dumps(
        {"findings": [asdict(one) for one in _worst_first(findings)], **_counts(findings)}, indent=2, ensure_ascii=False
    )


def summary(findings: Sequence[Finding]) -> str:
    """Return the counts, such as `1 error, 2 warnings, 0 notes`."""
    counts = _counts(findings)
    return ", ".join(f"{counts[f'{level}s']} {level}{'' if counts[f'{level}s'] == 1 else 's'}" for level in LEVELS)


def exit_code(findings: Sequence[Finding]) -> int:
    """Return 1 if something must be done, 0 if there are only notes."""
    return int(any(one.level != "note" for one in findings))


def _worst_first(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda one: (LEVELS.index(one.level), one.check, one.subject))


def _counts(findings: Sequence[Finding]) -> dict[str, int]:
    counted = Counter(one.level for one in findings)
    return {f"{level}s": counted[level] for level in LEVELS}
