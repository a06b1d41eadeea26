"""A server keeps its embedded database alive: a supervisor that was killed is started again."""

from __future__ import annotations

import asyncio
import logging
import threading

from config.embedded.client import Embedded, MovedError
from config.embedded.diagnosis import EmbeddedError

log = logging.getLogger("tradewind.database")
_LOOK_SECONDS = 1.0
_MOST_PAUSE_SECONDS = 30.0


async def keep(embedded: Embedded) -> None:
    """Look after the database until cancelled; raises `EmbeddedError` where it is no longer at its address."""
    pause = _LOOK_SECONDS
    while True:
        await asyncio.sleep(pause)
        if await asyncio.to_thread(embedded.is_supervised):
            pause = _LOOK_SECONDS
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
