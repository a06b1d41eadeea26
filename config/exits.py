"""How a process of the service ends."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from typing import NoReturn


def fail(problems: Sequence[str]) -> int:
    """Print every problem on a line of its own and return the exit code."""
    for problem in problems:
        sys.stderr.write(f"tradewind: {problem}\n")
    return 1


def end(code: int) -> NoReturn:
    """End the process at once. A thread waiting for an unresponsive database would delay it by a whole time limit."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
