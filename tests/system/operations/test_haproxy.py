"""PROXY headers of the real HAProxy, in both versions, before plain HTTP and before TLS that passes through it.

The other combinations: tests/experiments/operations/test_haproxy_combinations.py.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from plugins.testing import eventually
from tests.support.certificates import Authority
from tests.support.edge import address_on, edge
from tests.support.raw_http import Wire
from tests.support.replica_sets import free_ports

pytestmark = [
    pytest.mark.gen_test(timeout=60),
    pytest.mark.skipif(shutil.which("haproxy") is None, reason="HAProxy is not installed: apt-get install haproxy"),
]
CONFIGURATION = """\
defaults
    mode tcp
    timeout connect 5s
    timeout client 60s
    timeout server 60s
listen tradewind
    bind 127.0.0.1:{port}
    server one 127.0.0.1:{behind} {announced}
"""


@asynccontextmanager
async def haproxy(folder: Path, behind: int, announced: str) -> AsyncIterator[int]:
    """HAProxy before the server at the port `behind`; its own port."""
    (port,) = free_ports(1)
    (folder / "haproxy.cfg").write_text(CONFIGURATION.format(port=port, behind=behind, announced=announced))
    process = subprocess.Popen(["haproxy", "-db", "-f", str(folder / "haproxy.cfg")], stderr=subprocess.DEVNULL)
    try:

        async def listens() -> bool:
            assert process.poll() is None
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                return False
            writer.close()
            return True

        await eventually(listens)
        yield port
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait, 20)


# each connection, each version of the header, and TLS
CELLS = [("fast", "send-proxy-v2", True), ("fast", "send-proxy", False), ("tornado", "send-proxy-v2", False)]


@pytest.mark.parametrize(("http", "announced", "secured"), CELLS)
async def test_the_client_of_haproxy_is_known(
    mongodb_uri: str, tmp_path: Path, http: str, announced: str, secured: bool
) -> None:
    authority = Authority(tmp_path)
    own = authority.issue().settings if secured else {}
    # HAProxy listens on 127.0.0.1 and connects from there; another address of loopback stands for a client
    settings = {"proxy_protocol": True, "trusted_proxies": ("127.0.0.1",), **own}
    async with (
        edge(mongodb_uri, tmp_path, http, **settings) as service,
        haproxy(tmp_path, service.port, announced) as port,
    ):
        context = authority.client_context if secured else None
        name = "localhost" if secured else None
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=context, server_hostname=name, local_addr=("127.0.0.7", 0)
        )
        try:
            assert await address_on(Wire(reader, writer)) == "127.0.0.7"
        finally:
            writer.close()
