"""The nginx configuration of docs/operations, with the real nginx."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.websocket import websocket_connect

from config.settings import Settings
from plugins.files.settings import FilesSettings
from plugins.testing import Client
from tests.api.files.samples import RAR, form
from tests.support.nginx import CONFIGURATION, Certificate, Nginx, is_installed
from tests.support.replica_sets import free_ports
from tests.support.server_process import environment, server_process

pytestmark = [
    pytest.mark.gen_test(timeout=60),
    pytest.mark.skipif(not is_installed(), reason="nginx is not installed: apt-get install nginx-light"),
]
MEBIBYTE = 1 << 20
# what MemoryDenyWriteExecute of the systemd units asks for: prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN)
REFUSING_NEW_CODE = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(65, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


@dataclass(frozen=True)
class Edge:
    """An nginx with TLS before a server."""

    port: int
    redirecting: int
    certificate: Certificate
    token: str

    async def fetch(self, path: str, method: str = "GET", **options: Any) -> HTTPResponse:
        """A request through nginx."""
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        asked = HTTPRequest(
            f"https://localhost:{self.port}{path}",
            method,
            headers,
            ca_certs=str(self.certificate.certificate),
            request_timeout=50,
            **options,
        )
        return await AsyncHTTPClient(force_instance=True, max_body_size=200 * MEBIBYTE).fetch(asked, raise_error=False)


def certificate(folder: Path) -> Certificate:
    """A certificate for `localhost` that nobody else has signed."""
    made = Certificate(folder / "tradewind.crt", folder / "tradewind.key")
    options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-keyout", str(made.key), "-out", str(made.certificate)]
    command = ["openssl", "req", "-x509", *options, "-addext", "subjectAltName=DNS:localhost", *files]
    subprocess.run(command, check=True, capture_output=True)
    return made


@asynccontextmanager
async def edge(uri: str, folder: Path) -> AsyncIterator[Edge]:
    env = environment(uri, folder, PLUGINS="auth,rbac,files,notification", TRUSTED_PROXIES="127.0.0.1")
    within = [sys.executable, "-c", REFUSING_NEW_CODE]
    async with server_process(env, folder / "output", within=within) as server:
        url = await server.url()
        token = (await Client(url).log_in("admin")).token or ""
        port, redirecting = free_ports(2)
        made = certificate(folder)
        nginx = Nginx(folder / "nginx", [int(url.rpartition(":")[2])], port, redirecting, made)
        assert nginx.check() == ""
        nginx.start()
        try:
            yield Edge(port, redirecting, made, token)
        finally:
            nginx.stop()


async def test_requests_websockets_and_large_files_pass_through_nginx(mongodb_uri: str, tmp_path: Path) -> None:
    async with edge(mongodb_uri, tmp_path) as at:
        profile = await at.fetch("/api/v1/auth/profile")
        assert (profile.code, json.loads(profile.body)["code"]) == (200, 0)
        assert profile.headers["Strict-Transport-Security"]
        sessions = await at.fetch("/api/v1/auth/profile", headers={"X-Forwarded-For": "203.0.113.9"})
        assert sessions.code == 200
        assert (await at.fetch("/metrics")).code == 404
        # the service refuses what is too large with its own words
        refused = await at.fetch("/api/v1/auth/profile", "PUT", body=b"[" * 2 * MEBIBYTE)
        assert json.loads(refused.body)["code"] != 0

        content = RAR + os.urandom(60 * MEBIBYTE)
        raw, headers = form(("visibility", None, b"private"), ("file", "large.rar", content))
        stored = await at.fetch("/api/upload", "POST", headers=headers, body=raw)
        assert stored.code == 200, stored.body
        key = json.loads(stored.body)["data"]["objectKey"]
        assert (await at.fetch(f"/api/file/dl?object_key={key}")).body == content

        address = f"wss://localhost:{at.port}/api/v1/notifications/ws"
        asked = HTTPRequest(
            address, headers={"Authorization": f"Bearer {at.token}"}, ca_certs=str(at.certificate.certificate)
        )
        socket: Any = await websocket_connect(asked)
        assert json.loads(await socket.read_message())["type"] == "ready"
        socket.close()

        plain = HTTPRequest(f"http://127.0.0.1:{at.redirecting}/api/health", follow_redirects=False)
        redirected = await AsyncHTTPClient().fetch(plain, raise_error=False)
        assert (redirected.code, redirected.headers["Location"]) == (301, "https://127.0.0.1/api/health")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that the user of nginx may enter, as that of a test run may not be."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


async def test_requests_pass_on_a_unix_socket_and_keep_the_address_of_their_client(
    mongodb_uri: str, tmp_path: Path, open_folder: Path
) -> None:
    path = open_folder / "http.sock"
    edge = {"TRUSTED_PROXIES": "unix", "UNIX_SOCKET": str(path), "UNIX_SOCKET_MODE": "666"}
    env = environment(mongodb_uri, tmp_path, PLUGINS="auth,rbac", **edge)
    port, redirecting = free_ports(2)
    async with server_process(env, tmp_path / "output") as server:
        await server.url()
        nginx = Nginx(tmp_path / "nginx", [path], port, redirecting)
        assert nginx.check() == ""
        nginx.start()
        try:
            for _ in range(3):
                response = await AsyncHTTPClient().fetch(f"http://127.0.0.1:{port}/api/health")
                assert json.loads(response.body)["data"] == {"status": "ok"}
        finally:
            nginx.stop()
        assert await server.stop() == 0
        assert [line["address"] for line in server.lines("request")] == ["127.0.0.1"] * 3


def directive(name: str) -> float:
    """The largest value of a directive, in seconds or megabytes."""
    text = CONFIGURATION.read_text()
    return max(float(line.split()[1].rstrip("sm;")) for line in text.splitlines() if line.split()[:1] == [name])


def test_the_limits_of_nginx_fit_those_of_the_service() -> None:
    default = {name: field.default for name, field in Settings.model_fields.items()}
    largest = max(default["import_bytes"], FilesSettings.model_fields["max_upload_bytes"].default)
    assert directive("client_max_body_size") * MEBIBYTE > largest
    assert directive("proxy_read_timeout") > default["request_seconds"]
    assert directive("keepalive_timeout") < default["idle_seconds"]
