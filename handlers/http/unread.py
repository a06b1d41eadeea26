"""Bytes that a connection received before it could read them, counted while they are held."""

from __future__ import annotations

from handlers.http.receiving import Receiving


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
