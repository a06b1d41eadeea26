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
    """The pauses before restarts in one place: none after a process that served, 100 ms to 10 s while starts fail.

    A start fails if the process ends before it is ready, or within three seconds. A minute of service resets the pause.
    A process that is killed later than three seconds does not lengthen it.
    """

    failures: int = 0

    def pause_after(self, ready_seconds: float | None) -> float:
        """Return the seconds to wait after a process that was ready for `ready_seconds`, or never if that is None."""
        if ready_seconds is None or ready_seconds < EARLY_SECONDS:
            self.failures += 1
        elif ready_seconds >= STABLE_SECONDS:
            self.failures = 0
        if not self.failures:
            return 0.0
        doublings = min(self.failures - 1, _MOST_DOUBLINGS)
        return float(min(FIRST_SECONDS * 2**doublings, MOST_SECONDS))
