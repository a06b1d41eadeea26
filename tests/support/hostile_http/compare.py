"""Compares the readers with the strict one, on known connections and on generated ones."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.support.hostile_http.arguments import ARGUMENTS, Case
from tests.support.hostile_http.generator import CANARY, cut, generate
from tests.support.hostile_http.known import KNOWN
from tests.support.hostile_http.readers import read_fast, read_llhttp, read_tornado, silent
from tests.support.hostile_http.reading import Reading
from tests.support.hostile_http.strict import read_strictly

_MANY_PIECES = 10
Reader = Callable[[Sequence[bytes], bool], Awaitable[Reading]]
READERS: dict[str, Reader] = {"fast": read_fast, "tornado": read_tornado, "llhttp": read_llhttp}


@dataclass
class Report:
    """How many connections were compared, how often each argument was needed, and the differences without one."""

    connections: int = 0
    argued: Counter[str] = field(default_factory=Counter)
    differences: list[Case] = field(default_factory=list)


async def compare_known() -> Report:
    """Compare the hand-written connections: whole, whole with a late response, and short ones byte by byte."""
    report = Report()
    with silent():
        for sent in KNOWN.values():
            whole = sent + CANARY + CANARY
            await _compare(report, whole, [whole], False)
            await _compare(report, whole, [whole], True)
            if len(whole) < 500:
                await _compare(report, whole, [whole[at : at + 1] for at in range(len(whole))], False)
    return report


async def run(count: int, seed: object = 0) -> Report:
    """Compare `count` generated connections, which are the same for the same seed."""
    pick = random.Random(str(seed))
    report = Report()
    with silent():
        for _ in range(count):
            sent = generate(pick)
            await _compare(report, sent, cut(pick, sent), pick.random() < 0.3)
    return report


async def _compare(report: Report, sent: bytes, pieces: Sequence[bytes], late: bool) -> None:
    strict = read_strictly(sent)
    report.connections += 1
    for name, read in READERS.items():
        # Tornado's connection needs several turns of the event loop for each piece
        many = name == "tornado" and len(pieces) > _MANY_PIECES
        case = Case(name, sent, strict, await read([sent] if many else pieces, late))
        if case.differs:
            arguments = list(_arguments(case))
            report.argued.update(arguments[:1])
            if not arguments:
                report.differences.append(case)


def _arguments(case: Case) -> Iterator[str]:
    for argument in ARGUMENTS:
        if case.reader in argument.readers and argument.applies(case):
            yield argument.name
