"""The sockets that a server opens: on every address of a name, alone or beside others."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from config.listening import close_sockets, open_sockets


@contextmanager
def opened(host: str, port: int, shared: bool) -> Iterator[list[socket.socket]]:
    sockets = open_sockets(host, port, shared)
    try:
        yield sockets
    finally:
        close_sockets(sockets)


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_every_address_of_a_name_has_the_same_port() -> None:
    with opened("localhost", 0, shared=True) as sockets:
        assert len({each.getsockname()[1] for each in sockets}) == 1
        for each in sockets:
            with socket.create_connection(each.getsockname()[:2]):
                each.accept()[0].close()


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_an_ipv6_address_leaves_ipv4_to_others() -> None:
    with opened("::", 0, shared=False) as (first,):
        port = first.getsockname()[1]
        assert first.family == socket.AF_INET6
        with opened("0.0.0.0", port, shared=False) as (second,):
            assert second.family == socket.AF_INET


def test_a_port_is_shared_with_who_shares_it_alone() -> None:
    with opened("127.0.0.1", 0, shared=True) as (first,):
        port = first.getsockname()[1]
        with opened("127.0.0.1", port, shared=True):
            pass
        with pytest.raises(OSError, match="in use") as refused:
            open_sockets("127.0.0.1", port, shared=False)
        assert refused.value.errno == errno.EADDRINUSE
