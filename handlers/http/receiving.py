"""Limits of connections, and of how much memory incomplete requests take in a process, in total and for each address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from handlers.http.addresses import Network, listed, network_of
from handlers.schema.errors import RATE_LIMITED, UNAVAILABLE, ApiError
from handlers.schema.messages import TOO_MUCH_ARRIVING


@dataclass(frozen=True)
class Limits:
    """The limits of one connection: `header_bytes` for one header block, `extra_bytes` for the extensions and trailers
    of a chunked body, `request_seconds` to receive a whole request, `idle_seconds` between two requests."""

    header_bytes: int
    extra_bytes: int
    request_seconds: float
    idle_seconds: float


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


class UnreadBytes:
    """The bytes of one read, and of at most one further read. Raises 42900 and 50300 if they are too many.

    `counted` is the number of bytes that are counted as held in memory.
    """

    __slots__ = ("_address", "_at", "_data", "_receiving", "counted")

    def __init__(self, receiving: Receiving, address: str) -> None:
        self._receiving = receiving
        self._address = address
        self._data, self._at = b"", 0
        self.counted = 0

    def __bool__(self) -> bool:
        return bool(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def keep(self, data: bytes, at: int) -> None:
        """Keep `data` from `at` on, after what is already kept."""
        if self._data:
            self._data, self._at = self._data[self._at :] + data[at:], 0
        else:
            self._data, self._at = data, at

    def take(self) -> tuple[bytes, int]:
        """Return what is kept and where to continue in it; nothing is kept or counted afterwards."""
        kept = self._data, self._at
        self._data, self._at = b"", 0
        self.count(0)
        return kept

    def count(self, held: int) -> None:
        """Count `held` bytes as held in memory, in place of those counted before."""
        if self.counted:
            self._receiving.give_back(self._address, self.counted)
            self.counted = 0
        if held:
            self.counted = self._receiving.take(self._address, held)
