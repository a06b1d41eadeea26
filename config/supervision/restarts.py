"""How long to wait before a process that ended is started again."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_SECONDS = 0.1
MOST_SECONDS = 10.0
EARLY_SECONDS = 3.0
STABLE_SECONDS = 60.0
_MOST_DOUBLINGS = 7


@dataclass
class Restarts:
    """The pauses of one place: 100 ms, doubled up to 10 s while starts fail, 100 ms again after a minute of service.

    A start fails if the process ends before it is ready, or within three seconds. One that is killed later is no reason
    to wait longer.
    """

    failures: int = 0

    def pause_after(self, ready_seconds: float | None) -> float:
        """The seconds to wait after a process that was ready for so long; None: it never was."""
        if ready_seconds is None or ready_seconds < EARLY_SECONDS:
            self.failures += 1
        elif ready_seconds >= STABLE_SECONDS:
            self.failures = 0
        doublings = min(max(self.failures - 1, 0), _MOST_DOUBLINGS)
        return float(min(FIRST_SECONDS * 2**doublings, MOST_SECONDS))
