"""Keys that are stored with a customer so that it can be found by name, phone and place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

_NOT_DIGITS = re.compile(r"\D+")
_NOT_WORDS = re.compile(r"[\W_]+")


def derive_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys for whichever of `name`, `phone` and `location` are in `values`."""
    keys: dict[str, Any] = {}
    if "name" in values:
        keys["name_key"] = name_key(values["name"])
    if "phone" in values:
        keys["phone_key"] = phone_key(values["phone"])
    if "location" in values:
        keys["point"] = to_point(values["location"])
    return keys


def name_key(name: str | None) -> str | None:
    """Return a name without differences of width, case, spaces and punctuation, or None if nothing is left."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", name or "").casefold()) or None


def phone_key(phone: str | None) -> str | None:
    """Return the digits of a phone number without China's country code, or None if there are fewer than five."""
    digits = _NOT_DIGITS.sub("", unicodedata.normalize("NFKC", phone or "")).removeprefix("00")
    digits = digits.removeprefix("86") if len(digits) > 11 else digits
    return digits if len(digits) >= 5 else None


def to_point(position: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a position as a GeoJSON point, which MongoDB can index."""
    return {"type": "Point", "coordinates": [position["lng"], position["lat"]]} if position else None
