"""Keeps the embedded database of a server running: restarts a supervisor that was killed."""

from __future__ import annotations

import asyncio
import logging
import threading

from config.embedded.client import Embedded, MovedError
from config.embedded.diagnosis import EmbeddedError

log = logging.getLogger("tradewind.database")
_CHECK_SECONDS = 1.0
_MOST_PAUSE_SECONDS = 30.0


async def keep(embedded: Embedded) -> None:
    """Restart the supervisor whenever it is gone, until cancelled. Raises `MovedError` if the address has changed."""
    pause = _CHECK_SECONDS
    while True:
        await asyncio.sleep(pause)
        if await asyncio.to_thread(embedded.is_supervised):
            pause = _CHECK_SECONDS
            continue
        log.warning("the supervisor of the embedded database is gone; starting another")
        given_up = threading.Event()
        try:
            await asyncio.to_thread(embedded.supervise, given_up)
            log.info("the embedded database runs again")
        except MovedError:
            raise
        except EmbeddedError as error:
            pause = min(2 * pause, _MOST_PAUSE_SECONDS)
            log.error(
                "the embedded database does not start", extra={"reason": str(error), "again_after_seconds": pause}
            )
        finally:
            given_up.set()
