"""Sends one request to an address that others chose: signed, bounded, and never into the network of the service."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from tornado.httpclient import HTTPError, HTTPRequest
from tornado.netutil import DefaultLoopResolver
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from plugins.webhook.records import MAX_RESPONSE
from plugins.webhook.signing import signatures

_CONNECT_SECONDS, _REQUEST_SECONDS = 5.0, 10.0
_MAX_RESPONSE_BYTES = 64 << 10
_MAX_CLIENTS = 100
_NAT64 = ip_network("64:ff9b::/96")


class AddressRefused(OSError):
    """The address, or what its name leads to, lies inside."""


@dataclass(frozen=True)
class Attempt:
    """What came back: the status and beginning of a response, or the `fault` for which there was none."""

    status: int | None = None
    response: str = ""
    fault: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether the receiver has accepted the message."""
        return self.status is not None and 200 <= self.status < 300


class _OutsideOnly(DefaultLoopResolver):
    """Resolves names to addresses outside, or in `allowed` networks. The client connects to exactly these addresses."""

    def initialize(self, allowed: Sequence[str] = ()) -> None:
        """Tornado's constructor."""
        self._allowed = [ip_network(one, strict=False) for one in allowed]

    async def resolve(
        self, host: str, port: int, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[tuple[int, Any]]:
        """Return the addresses of `host`. Raises `AddressRefused` if one of them lies inside."""
        found = await super().resolve(host, port, family)
        for _, address in found:
            reached = real_address(str(address[0]))
            if not (is_outside(reached) or any(reached in network for network in self._allowed)):
                raise AddressRefused("the address is in an internal network")
        return found


def real_address(address: str) -> IPv4Address | IPv6Address:
    """Return the address that a connection reaches: the IPv4 address within an IPv6 one that stands for it."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv4Address):
        return parsed
    teredo = parsed.teredo
    if parsed in _NAT64:
        return IPv4Address(int(parsed) & 0xFFFFFFFF)
    return parsed.ipv4_mapped or parsed.sixtofour or (teredo[1] if teredo else parsed)


def is_outside(address: IPv4Address | IPv6Address) -> bool:
    """Return whether the address belongs to the public internet."""
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


class Poster:
    """Posts messages within limits of time and size; redirects are not followed."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._http = SimpleAsyncHTTPClient(
            force_instance=True,
            max_clients=_MAX_CLIENTS,
            max_body_size=_MAX_RESPONSE_BYTES,
            resolver=_OutsideOnly(allowed=allowed),
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    async def post(self, url: str, secrets: Sequence[str], message_id: str, body: bytes) -> Attempt:
        """Send a message; whatever happens is in the attempt that is returned."""
        now = int(time.time())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Tradewind-Webhooks",
            "webhook-id": message_id,
            "webhook-timestamp": str(now),
            "webhook-signature": signatures(secrets, message_id, now, body),
        }
        request = HTTPRequest(
            url,
            "POST",
            headers,
            body,
            connect_timeout=_CONNECT_SECONDS,
            request_timeout=_REQUEST_SECONDS,
            follow_redirects=False,
        )
        try:
            response = await self._http.fetch(request, raise_error=False)
        except HTTPError as error:
            return Attempt(fault=f"{error.code} {error.message}"[:200])
        except (OSError, ValueError) as error:
            return Attempt(fault=f"{type(error).__name__}: {error}"[:200])
        if response.code == 599:
            return Attempt(fault=f"{type(response.error).__name__}: {response.error}"[:200])
        return Attempt(response.code, response.body[:MAX_RESPONSE].decode(errors="replace")[:MAX_RESPONSE])
