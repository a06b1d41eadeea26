"""What is kept of a customer besides its fields, to find it by name, phone and place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

_NOT_DIGITS = re.compile(r"\D+")
_NOT_WORDS = re.compile(r"[\W_]+")


def derived(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that follow from those of `name`, `phone` and `location` that are given."""
    keys: dict[str, Any] = {}
    if "name" in values:
        keys["name_key"] = name_key(values["name"])
    if "phone" in values:
        keys["phone_key"] = phone_key(values["phone"])
    if "location" in values:
        keys["point"] = point(values["location"])
    return keys


def name_key(name: str | None) -> str | None:
    """A name without width, case, spaces and punctuation."""
    return _NOT_WORDS.sub("", unicodedata.normalize("NFKC", name or "").casefold()) or None


def phone_key(phone: str | None) -> str | None:
    """The digits of a phone number, without China's country code; None for too few to say anything."""
    digits = _NOT_DIGITS.sub("", unicodedata.normalize("NFKC", phone or "")).removeprefix("00")
    digits = digits.removeprefix("86") if len(digits) > 11 else digits
    return digits if len(digits) >= 5 else None


def point(position: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A position as MongoDB indexes it (GeoJSON)."""
    return {"type": "Point", "coordinates": [position["lng"], position["lat"]]} if position else None
