"""The command `tradewind serve`: does the same as `server.py`."""

from __future__ import annotations

import signal
from collections.abc import Sequence

import server


def main(arguments: Sequence[str], program: str) -> int:
    """Serve, and end the process with the exit code."""
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # until `serve` handles it, Ctrl-C ends the process without a traceback
    server.end(server.main(arguments, program))
