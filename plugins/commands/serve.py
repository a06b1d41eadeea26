"""The command `tradewind serve`: does the same as `server.py`."""

from __future__ import annotations

from collections.abc import Sequence

import server


def main(arguments: Sequence[str], program: str) -> int:
    """Serve, and end the process with the exit code."""
    server.run_and_end(arguments, program)
