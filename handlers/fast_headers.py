"""The header fields of a request that llhttp has checked, as Tornado's delegates know them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from tornado import httputil

_LONGEST_KNOWN = 64


@lru_cache(maxsize=1000)
def _known(name: str) -> str:
    return "-".join([word.capitalize() for word in name.split("-")])


@lru_cache(maxsize=1000)
def _known_raw(raw: bytes) -> str:
    return _known(raw.decode("latin-1"))


def _field_name(raw: bytes) -> str:
    """A field's name as Tornado writes it: `Content-Type`; a client's long inventions are not remembered."""
    return _known_raw(raw) if len(raw) <= _LONGEST_KNOWN else _known.__wrapped__(raw.decode("latin-1"))


class Headers(httputil.HTTPHeaders):
    """Tornado's headers, made of fields that llhttp has checked already, and read without detours."""

    def __init__(self, fields: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self._as_list: dict[str, list[str]] = {}
        self._combined_cache: dict[str, str] = {}
        for raw, value in fields:
            name, text = _field_name(raw), value.decode("latin-1").strip(" \t")
            if name in self._as_list:
                self._as_list[name].append(text)
            else:
                self._as_list[name] = [text]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a field, several joined by commas; `default` where there is none."""
        values = self._as_list.get(name) or self._as_list.get(_known(name))
        if values is None:
            return default
        return values[0] if len(values) == 1 else ",".join(values)
