"""The embedded database while it starts, beside the imports of the plugins, which take as long."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from config.embedded.client import Embedded, acquire
from config.settings import Settings


class Starting:
    """A start in a thread. If the server fails before it uses the database, the database stops by itself."""

    def __init__(self, data_dir: Path, database: str) -> None:
        self._given_up = threading.Event()
        begin = partial(acquire, data_dir, given_up=self._given_up, database=database)
        self._future = ThreadPoolExecutor(1, "database").submit(begin)

    async def database(self) -> Embedded:
        """Wait for the database and return it; if the caller is cancelled, its start is given up.

        Raises `EmbeddedError`.
        """
        try:
            return await asyncio.wrap_future(self._future)
        finally:
            self._given_up.set()


def start_database(settings: Settings) -> Starting | None:
    """Start the embedded database in the background; return None if the settings name another database."""
    return None if settings.mongodb_uri.get_secret_value() else Starting(settings.data_dir, settings.mongodb_database)
