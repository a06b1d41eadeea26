"""Calls to S3, with a time limit. Every failure becomes 50300 or "not found"."""

from __future__ import annotations

import asyncio
from collections.abc import Container
from typing import Any

import aiohttp
from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

from plugins.api.requests import span, trace_headers
from plugins.files.storage import make_storage_error

PATIENCE = 5  # S3 may take this many times longer to join or to copy a large file
GONE = frozenset({"404", "NoSuchKey", "NoSuchUpload", "412", "PreconditionFailed"})


class S3Calls:
    """Calls a client's methods by name. `seconds`: the time limit of one call, including its second attempt."""

    def __init__(self, client: Any, seconds: float) -> None:
        self._client = client
        self.seconds = seconds
        client.meta.events.register("before-send.s3", _pass_trace_on)

    async def __call__(
        self, action: str, method: str, gone: Container[str] = (), patience: int = 1, **arguments: Any
    ) -> Any:
        """Return the response of S3, or None for an error code of `gone`. Raises 50300 and logs the reason."""
        try:
            called = span(f"S3 {method}", "CLIENT", rpc_system="aws-api", rpc_service="S3", rpc_method=method)
            async with asyncio.timeout(self.seconds * patience):
                with called:
                    return await getattr(self._client, method)(**arguments)
        except ClientError as error:
            if str(error.response.get("Error", {}).get("Code")) in gone:
                return None
            raise make_storage_error(f"s3 {action}", error) from error
        except (BotoCoreError, aiohttp.ClientError, TimeoutError, OSError) as error:
            raise make_storage_error(f"s3 {action}", error) from error


def _pass_trace_on(request: Any, **_: Any) -> None:
    """botocore: a request that is signed already goes out."""
    for name, value in trace_headers().items():
        request.headers[name] = value
