"""The signals that end a start or a running service."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

_TIDY_SECONDS = 0.5


class Stop:
    """Handles SIGTERM and SIGINT: they cancel a start, and ask a running service to stop.

    With `replaceable`, SIGHUP does the same: it means that another process is ready to take the place of this one.
    """

    def __init__(self, replaceable: bool) -> None:
        self.asked = asyncio.Event()
        self.replaced = False
        self._loop = asyncio.get_running_loop()
        self._starting = asyncio.current_task()
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._ask)
        if replaceable:
            self._loop.add_signal_handler(signal.SIGHUP, self._replace)

    def call_on_hangup(self, call: Callable[[], object]) -> None:
        """Call `call` on every SIGHUP from now on."""
        self._loop.add_signal_handler(signal.SIGHUP, call)

    def started(self) -> None:
        """Note that the start is over: from now on a signal asks the service to stop and cancels nothing."""
        self._starting = None

    def _replace(self) -> None:
        self.replaced = True
        self._ask()

    def _ask(self) -> None:
        self.asked.set()
        self._end_start()

    def _end_start(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
            # cancelled again later, because the clean-up of a start may itself wait for the database
            self._loop.call_later(_TIDY_SECONDS, self._end_start)
