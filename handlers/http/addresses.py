"""Addresses of clients: which networks a setting lists, and who is behind a proxy."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

from tornado import httputil

FORWARDING = ("X-Forwarded-For", "Forwarded", "X-Real-Ip")  # fields that proxies add, as Tornado writes their names
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


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """What counts as one address: an IPv4 address, or the /64 that an IPv6 customer gets (RFC 6177)."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address) or parsed.ipv4_mapped:
        return str(getattr(parsed, "ipv4_mapped", parsed))
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))


def context_address(connection: httputil.HTTPConnection) -> str:
    """The address of the other end of a connection of Tornado's, empty where it is unknown."""
    return str(getattr(getattr(connection, "context", None), "remote_ip", "") or "")


def client_address(peer: str, headers: httputil.HTTPHeaders, proxies: Sequence[Network]) -> str:
    """The address of the client: `peer`, or what a trusted proxy says in X-Forwarded-For, read from the right."""
    address = peer
    if not proxies:
        return address
    for hop in reversed(headers.get("X-Forwarded-For", "").split(",")):
        if not listed(address, proxies) or not hop.strip():
            break
        address = hop.strip()
    return address[:64]
