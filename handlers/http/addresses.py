"""Addresses of clients: which networks a setting lists, and who is behind a proxy."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tornado import httputil

from config.listening import UNIX

FORWARDING = ("X-Forwarded-For", "Forwarded", "X-Real-Ip")  # headers that proxies add, in Tornado's spelling
Network = ipaddress.IPv4Network | ipaddress.IPv6Network | str  # the text is always `unix`
_MOST_FORWARDED = 4096
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# a pair of RFC 7239 section 4, if there is one, and the delimiter that ends it
_PAIR = re.compile(rf'[ \t]*+(?:({_TOKEN})=(?:({_TOKEN})|"((?:[^"\\]|\\.)*+)"))?+[ \t]*+([;,]|$)')


def networks(addresses: Sequence[str]) -> tuple[Network, ...]:
    """Parse the addresses and networks of a setting."""
    return tuple(UNIX if address == UNIX else ipaddress.ip_network(address, strict=False) for address in addresses)


def listed(address: str, allowed: Sequence[Network]) -> bool:
    """Return whether `address` lies in one of the networks."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address == UNIX and UNIX in allowed
    return any(not isinstance(network, str) and parsed in network for network in allowed)


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """Return what counts as one address: the IPv4 address, or the /64 that an IPv6 customer gets (RFC 6177)."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address) or parsed.ipv4_mapped:
        return str(getattr(parsed, "ipv4_mapped", parsed))
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))


def context_address(connection: httputil.HTTPConnection) -> str:
    """Return the address of the other end of a Tornado connection, or an empty text if it is unknown."""
    return str(getattr(getattr(connection, "context", None), "remote_ip", "") or "")


@dataclass(frozen=True)
class Proxies:
    """The trusted proxies, and the one header in which they name the client: clients may send the others themselves."""

    networks: tuple[Network, ...]
    field: str = "X-Forwarded-For"

    def client(self, peer: str, headers: httputil.HTTPHeaders) -> str:
        """Return the address of the client: `peer`, or the one that trusted proxies name, read from the right."""
        address = peer
        if not listed(peer, self.networks):
            return address  # what others send is not even parsed
        said = headers.get(self.field, "")
        for hop in reversed(forwarded_for(said) if self.field == "Forwarded" else said.split(",")):
            if not listed(address, self.networks) or not hop.strip():
                break
            address = hop.strip()
        return address[:64]


def forwarded_for(field: str) -> list[str]:
    """Return the addresses in a `Forwarded` header (RFC 7239), an empty text for a hop that names none.

    The list is empty if the header is malformed or too long.
    """
    hops, hop, at = [], "", 0
    while len(field) <= _MOST_FORWARDED:
        found = _PAIR.match(field, at)
        if found is None:
            break
        name, token, quoted, end = found.groups()
        if name is not None and name.lower() == "for":
            hop = _node(token if quoted is None else quoted)
        if end != ";":
            hops.append(hop)
            hop = ""
        if not end:
            return hops
        at = found.end()
    return []


def _node(name: str) -> str:
    """Return the address in `192.0.2.1:80` or `[2001:db8::1]:80`, the port being optional.

    For any other identifier (RFC 7239 section 6.3) it is an empty text.
    """
    bracketed, closing, _ = name.removeprefix("[").partition("]")
    address = bracketed if closing else name.partition(":")[0]
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return ""
