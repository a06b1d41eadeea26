"""Whom a trusted proxy forwards: X-Forwarded-For, or `Forwarded` (RFC 7239), and never the one that clients send."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tornado.httputil import HTTPHeaders

from handlers.http.addresses import Proxies, forwarded_for, networks
from tests.support.edge import address_on, edge, wire

TRUSTED = networks(("10.0.0.0/8", "2001:db8:ffff::/48", "unix"))


def client(peer: str, field: str, **fields: str) -> str:
    """Who is behind `peer` by the setting `field`."""
    headers = HTTPHeaders({name.replace("_", "-"): value for name, value in fields.items()})
    return Proxies(TRUSTED, field).client(peer, headers)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("for=192.0.2.60", ["192.0.2.60"]),
        ("For=192.0.2.60;proto=http;by=203.0.113.43", ["192.0.2.60"]),
        ('for="192.0.2.60:4711" , for="[2001:db8:cafe::17]:4711"', ["192.0.2.60", "2001:db8:cafe::17"]),
        ('for="[2001:db8:cafe::17]"', ["2001:db8:cafe::17"]),
        ("for=_hidden, for=unknown", ["", ""]),
        ("proto=https, for=192.0.2.60", ["", "192.0.2.60"]),
        ('by="a,for=1.2.3.4";for=192.0.2.60', ["192.0.2.60"]),
        ("", [""]),
        ('for="192.0.2.1, for=192.0.2.60', []),
        ("for = 192.0.2.60", []),
        ("192.0.2.60", []),
        ("for=2001:db8::1", []),
        ("for=192.0.2.60 for=192.0.2.61", []),
        ("for=192.0.2.60," * 400, []),
    ],
)
def test_the_addresses_of_a_field(said: str, found: list[str]) -> None:
    assert forwarded_for(said) == found


@given(st.text(alphabet='for=by;,"\\ []:.0123456789_\t', max_size=200))
def test_no_text_breaks_it(said: str) -> None:
    assert all(hop == "" or hop[0].isalnum() or ":" in hop for hop in forwarded_for(said))


def test_hops_are_believed_from_the_right_as_long_as_they_are_trusted() -> None:
    said = 'for=6.6.6.6, for=203.0.113.9, for="10.0.0.2:80"'
    assert client("10.0.0.1", "Forwarded", Forwarded=said) == "203.0.113.9"
    assert client("192.0.2.1", "Forwarded", Forwarded=said) == "192.0.2.1"
    assert client("unix", "Forwarded", Forwarded=said) == "203.0.113.9"
    assert client("10.0.0.1", "X-Forwarded-For", X_Forwarded_For="6.6.6.6, 203.0.113.9, 10.0.0.2") == "203.0.113.9"


def test_the_field_that_the_proxy_does_not_write_is_not_believed() -> None:
    fields = {"Forwarded": "for=6.6.6.6", "X_Forwarded_For": "203.0.113.9"}
    assert client("10.0.0.1", "X-Forwarded-For", **fields) == "203.0.113.9"
    assert client("10.0.0.1", "Forwarded", **fields) == "6.6.6.6"
    assert client("10.0.0.1", "Forwarded", X_Forwarded_For="203.0.113.9") == "10.0.0.1"


def test_a_hop_that_hides_its_client_stands_for_it() -> None:
    assert client("10.0.0.1", "Forwarded", Forwarded="for=6.6.6.6, for=_hidden") == "10.0.0.1"


@pytest.mark.gen_test(timeout=30)
async def test_a_server_believes_the_field_of_the_setting(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    settings = {"trusted_proxies": ("::1",), "host": "::1", "forwarding_field": "Forwarded"}
    async with edge(mongodb_uri, tmp_path, http, **settings) as service:
        assert service.url == f"http://[::1]:{service.port}"
        async with wire(service) as at:
            assert await address_on(at) == "::1"
            assert await address_on(at, 'Forwarded: for="[2001:db8::9]:80"') == "2001:db8::9"
            assert await address_on(at, "X-Forwarded-For: 6.6.6.6") == "::1"
