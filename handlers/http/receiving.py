"""Limits how much memory incomplete requests take in a process, in total and for each address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from handlers.http.addresses import Network, listed, network_of
from handlers.schema.errors import RATE_LIMITED, UNAVAILABLE, ApiError
from handlers.schema.messages import TOO_MUCH_ARRIVING

_RETRY_SECONDS = "5"
_PIECE_BYTES = 64  # memory that a piece takes besides its content


class Receiving:
    """Counts bytes: at most `most`, and `most_per_address` from one IPv4 address or IPv6 /64, except for `proxies`."""

    def __init__(self, most: int, most_per_address: int, proxies: Sequence[Network] = ()) -> None:
        self._most = most
        self._most_per_address = most_per_address
        self._proxies = proxies
        self._by_address: Counter[str] = Counter()
        self.held = 0

    def take(self, address: str, size: int) -> int:
        """Count a piece of `size` bytes, and return how many bytes to give back for it later.

        Raises 42900 and 50300, with `Retry-After`.
        """
        size += _PIECE_BYTES
        if self.held + size > self._most:
            raise ApiError(UNAVAILABLE, TOO_MUCH_ARRIVING, headers={"Retry-After": _RETRY_SECONDS})
        if not self._is_proxy(address):
            network = network_of(address)
            if self._by_address[network] + size > self._most_per_address:
                raise ApiError(RATE_LIMITED, TOO_MUCH_ARRIVING, headers={"Retry-After": _RETRY_SECONDS})
            self._by_address[network] += size
        self.held += size
        return size

    def give_back(self, address: str, size: int) -> None:
        """Stop counting `size` bytes, because their request is complete or was dropped."""
        self.held -= size
        if not self._is_proxy(address):
            network = network_of(address)
            self._by_address[network] -= size
            if not self._by_address[network]:
                del self._by_address[network]

    def _is_proxy(self, address: str) -> bool:
        return bool(self._proxies) and listed(address, self._proxies)
