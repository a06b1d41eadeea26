"""Keys that are stored with a customer, to find it by name, phone and place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

_NOT_DIGITS = re.compile(r"\D+")
_NOT_WORDS = re.compile(r"[\W_]+")


def derive_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Keys for those of `name`, `phone` and `location` that are in `values`."""
    keys: dict[str, Any] = {}
    if "name" in values:
        keys["name_key"] = name_key(values["name"])
    if "phone" in values:
        keys["phone_key"] = phone_key(values["phone"])
    if "location" in values:
        keys["point"] = to_point(values["location"])
    return keys


def name_key(name: str | None) -> str | None:
    """Normalize a name: width, case, spaces and punctuation make no difference."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", name or "").casefold()) or None


def phone_key(phone: str | None) -> str | None:
    """The digits of a phone number without China's country code; None for fewer than five digits."""
    digits = _NOT_DIGITS.sub("", unicodedata.normalize("NFKC", phone or "")).removeprefix("00")
    digits = digits.removeprefix("86") if len(digits) > 11 else digits
    return digits if len(digits) >= 5 else None


def to_point(position: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A position as a GeoJSON point, which MongoDB can index."""
    return {"type": "Point", "coordinates": [position["lng"], position["lat"]]} if position else None
