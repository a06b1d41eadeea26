"""The Caddyfile of docs/operations, with the real Caddy."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

from config.settings import Settings
from plugins.files.settings import FilesSettings
from plugins.testing import Client, eventually
from tests.api.files.samples import RAR, form
from tests.support.certificates import Authority
from tests.support.replica_sets import free_ports
from tests.support.server_process import environment, server_process

pytestmark = [
    pytest.mark.gen_test(timeout=60),
    pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy is not installed: apt-get install caddy"),
]
CADDYFILE = Path(__file__).resolve().parents[3] / "docs" / "operations" / "caddy" / "Caddyfile"
MEBIBYTE = 1 << 20


@asynccontextmanager
async def caddy(folder: Path, authority: Authority, upstream: str) -> AsyncIterator[str]:
    """Caddy with the documented file, for `localhost` and with a certificate of ours; its address."""
    (port,) = free_ports(1)
    files = authority.issue("caddy")
    text = CADDYFILE.read_text()
    assert text.count("tradewind.example.com {") == text.count("reverse_proxy 127.0.0.1:8000 {") == 1
    site = f"https://localhost:{port} {{\n\ttls {files.certificate} {files.key}\n"
    text = text.replace("tradewind.example.com {\n", site).replace("127.0.0.1:8000", upstream)
    options = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"
    (folder / "Caddyfile").write_text(options + text)
    env = {**os.environ, "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "HOME": str(folder)}
    command = ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:

        async def answers() -> bool:
            assert process.poll() is None, (folder / "caddy.log").read_text()
            asked = HTTPRequest(f"https://localhost:{port}/api/health", ca_certs=str(authority.certificate))
            try:
                return (await AsyncHTTPClient().fetch(asked, raise_error=False)).code == 200
            except OSError:
                return False

        await eventually(answers, seconds=20)
        yield f"https://localhost:{port}"
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait, 20)


async def fetch(url: str, authority: Authority, token: str | None, method: str = "GET", **options: Any) -> Any:
    """A request through Caddy."""
    headers = {"Authorization": f"Bearer {token}", **options.pop("headers", {})}
    asked = HTTPRequest(
        url,
        method,
        headers,
        ca_certs=str(authority.certificate),
        request_timeout=50,
        decompress_response=False,
        **options,
    )
    return await AsyncHTTPClient(force_instance=True, max_body_size=200 * MEBIBYTE).fetch(asked, raise_error=False)


async def test_requests_websockets_and_large_files_pass_through_caddy(mongodb_uri: str, tmp_path: Path) -> None:
    env = environment(mongodb_uri, tmp_path, PLUGINS="auth,rbac,files,notification", TRUSTED_PROXIES="127.0.0.1")
    authority = Authority(tmp_path)
    async with server_process(env, tmp_path / "server") as server:
        direct = await server.url()
        token = (await Client(direct).log_in("admin")).token
        async with caddy(tmp_path, authority, direct.removeprefix("http://")) as url:
            profile = await fetch(f"{url}/api/v1/auth/profile", authority, token)
            assert (profile.code, json.loads(profile.body)["code"]) == (200, 0)
            assert (await fetch(f"{url}/metrics", authority, token)).code == 404

            content = RAR + os.urandom(20 * MEBIBYTE)
            raw, headers = form(("visibility", None, b"private"), ("file", "large.rar", content))
            stored = await fetch(f"{url}/api/upload", authority, token, "POST", headers=headers, body=raw)
            assert stored.code == 200, stored.body
            key = json.loads(stored.body)["data"]["objectKey"]
            assert (await fetch(f"{url}/api/file/dl?object_key={key}", authority, token)).body == content

            asked = HTTPRequest(
                f"{url.replace('https', 'wss')}/api/v1/notifications/ws",
                headers={"Authorization": f"Bearer {token}"},
                ca_certs=str(authority.certificate),
            )
            socket: Any = await websocket_connect(asked)
            assert json.loads(await socket.read_message())["type"] == "ready"
            socket.close()


def megabytes(name: str) -> float:
    """The value of a directive in megabytes."""
    found = re.search(rf"{name} (\d+)MB", CADDYFILE.read_text())
    assert found
    return float(found[1])


def seconds(name: str) -> float:
    """The value of a directive in seconds."""
    found = re.search(rf"{name} (\d+)s", CADDYFILE.read_text())
    assert found
    return float(found[1])


def test_the_limits_of_caddy_fit_those_of_the_service() -> None:
    default = {name: field.default for name, field in Settings.model_fields.items()}
    largest = max(default["import_bytes"], FilesSettings.model_fields["max_upload_bytes"].default)
    assert megabytes("max_size") * 1_000_000 > largest
    assert seconds("response_header_timeout") > default["request_seconds"]
    assert seconds("keepalive") < default["idle_seconds"]
