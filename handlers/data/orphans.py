"""What a killed instance left open in the database is ended by those that live, before anybody waits for long."""

from __future__ import annotations

import asyncio
import logging

from config.database import DatabaseRefused, DatabaseUnavailable, Driver

log = logging.getLogger("tradewind.database")
_LOOK_SECONDS = 0.3  # a look costs MongoDB a fifth of a millisecond


async def end_orphans_for_ever(driver: Driver) -> None:
    """Look again and again; gives up, and says so, where MongoDB does not let itself be asked."""
    while True:
        try:
            ended = await driver.end_orphans()
            if ended:
                log.warning("transactions of a killed instance ended", extra={"count": ended})
        except DatabaseUnavailable as error:
            if isinstance(error, DatabaseRefused):
                return _give_up(error)
        except Exception as error:  # a service that speaks MongoDB's protocol may not know what is asked
            return _give_up(error)
        await asyncio.sleep(_LOOK_SECONDS)


def _give_up(error: Exception) -> None:
    log.warning("transactions of killed instances are not ended", extra={"reason": str(error)[:300]})
