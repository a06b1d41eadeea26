"""Calls of S3: within a time limit, and with every way to fail turned into 50300 or into "not there"."""

from __future__ import annotations

import asyncio
from collections.abc import Container
from typing import Any

import aiohttp
from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

from plugins.files.storage import out_of_reach

PATIENCE = 5  # how many times longer S3 may take to join or to copy a large file
GONE = frozenset({"404", "NoSuchKey", "NoSuchUpload", "412", "PreconditionFailed"})


class S3Calls:
    """Calls a client's methods by name. `seconds`: the time limit of one call, its second attempt included."""

    def __init__(self, client: Any, seconds: float) -> None:
        self._client = client
        self.seconds = seconds

    async def __call__(
        self, action: str, method: str, gone: Container[str] = (), patience: int = 1, **arguments: Any
    ) -> Any:
        """What S3 answers; None for an error code of `gone`. Raises 50300, with the reason in the log."""
        try:
            async with asyncio.timeout(self.seconds * patience):
                return await getattr(self._client, method)(**arguments)
        except ClientError as error:
            if str(error.response.get("Error", {}).get("Code")) in gone:
                return None
            raise out_of_reach(f"s3 {action}", error) from error
        except (BotoCoreError, aiohttp.ClientError, TimeoutError, OSError) as error:
            raise out_of_reach(f"s3 {action}", error) from error
