"""Addresses of clients: which networks a setting lists, and who is behind a proxy."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from tornado import httputil

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks(addresses: Sequence[str]) -> tuple[Network, ...]:
    """Addresses and networks of a setting, parsed."""
    return tuple(ipaddress.ip_network(address, strict=False) for address in addresses)


def listed(address: str, allowed: Sequence[Network]) -> bool:
    """Whether `address` lies in one of the networks."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in allowed)


def client_address(
    connection: httputil.HTTPConnection, headers: httputil.HTTPHeaders, proxies: Sequence[Network]
) -> str:
    """The address of the client: the peer, or what a trusted proxy says in X-Forwarded-For, read from the right."""
    address = str(getattr(getattr(connection, "context", None), "remote_ip", "") or "")
    if not proxies:
        return address
    for hop in reversed(headers.get("X-Forwarded-For", "").split(",")):
        if not listed(address, proxies) or not hop.strip():
            break
        address = hop.strip()
    return address[:64]
