"""Whether two things cost the same work, by the processor time of this process, in which the servers run too."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable

ROUNDS, PAIRS = 6, 9
Work = Callable[[], Awaitable[object]]


async def difference(one: Work, other: Work, enough: float) -> float:
    """Return the relative difference of their median processor times; the least of some rounds, until it is enough.

    A difference that the service makes is in every round, and one that the machine makes is not.
    """
    least = 1.0
    for _ in range(ROUNDS):
        least = min(least, await _of_a_round(one, other))
        if least < enough:
            break
    return least


async def _of_a_round(one: Work, other: Work) -> float:
    taken: dict[Work, list[float]] = {one: [], other: []}
    for number in range(PAIRS):
        for work in (one, other) if number % 2 else (other, one):
            began = time.process_time()
            await work()
            taken[work].append(time.process_time() - began)
    first, second = (statistics.median(times) for times in taken.values())
    return abs(first - second) / max(first, second)
