"""A Unix socket beside the port: who may connect, whose address counts, and what becomes of its file."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest

from config.listening import CannotListen, open_unix_socket
from plugins.boot.listen import StartError
from tests.support.certificates import Authority
from tests.support.edge import address_on, edge, wire

pytestmark = pytest.mark.gen_test(timeout=30)


async def test_both_the_socket_and_the_port_are_served(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    path = tmp_path / "http.sock"
    settings = {"unix_socket": str(path), "unix_socket_mode": "600", "trusted_proxies": ("unix",)}
    async with edge(mongodb_uri, tmp_path, http, **settings) as service:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        async with wire(service) as at:
            assert await address_on(at, "X-Forwarded-For: 203.0.113.9") == "127.0.0.1"
        async with wire(service, path=path) as at:
            assert await address_on(at) == "unix"
            assert await address_on(at, "X-Forwarded-For: 203.0.113.9") == "203.0.113.9"
    assert not path.exists()


async def test_nobody_on_it_is_believed_where_it_is_not_trusted(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    path = tmp_path / "http.sock"
    async with (
        edge(mongodb_uri, tmp_path, http, unix_socket=str(path), trusted_proxies=("127.0.0.1",)) as service,
        wire(service, path=path) as at,
    ):
        assert await address_on(at, "X-Forwarded-For: 203.0.113.9") == "unix"


async def test_it_has_no_tls_where_the_port_has(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    authority, path = Authority(tmp_path), tmp_path / "http.sock"
    async with edge(mongodb_uri, tmp_path, http, unix_socket=str(path), **authority.issue().settings) as service:
        async with wire(service, path=path) as at:
            assert await address_on(at) == "unix"
        async with wire(service, authority.client_context) as at:
            assert await address_on(at) == "127.0.0.1"


async def test_a_start_is_refused_where_another_process_listens(mongodb_uri: str, tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    async with edge(mongodb_uri, tmp_path / "first", "fast", unix_socket=str(path)) as service:
        with pytest.raises(StartError, match=r"another process does. Stop it, or set TRADEWIND_UNIX_SOCKET"):
            async with edge(mongodb_uri, tmp_path / "second", "fast", unix_socket=str(path)):
                pass
        async with wire(service, path=path) as at:
            assert await address_on(at) == "unix"


def test_the_file_of_one_that_was_killed_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    opened = open_unix_socket(path, 0o660)
    with opened.socket:
        opened.remove()
    assert not path.exists()


def test_the_file_of_another_socket_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "http.sock"
    first = open_unix_socket(path, 0o660)
    first.socket.close()
    second = open_unix_socket(path, 0o660)
    with second.socket:
        first.remove()
        assert path.exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("file", "the file is no socket"),
        ("none/http.sock", "No such file or directory"),
        ("file/http.sock", "Not a directory"),
        ("x" * 200, "too long"),
    ],
)
def test_paths_that_cannot_be_used_are_refused_and_left_alone(tmp_path: Path, name: str, reason: str) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    with pytest.raises(CannotListen, match=reason):
        open_unix_socket(tmp_path / name, 0o660)
    assert file.read_text() == "kept"
