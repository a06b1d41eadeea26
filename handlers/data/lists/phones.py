"""Searches for phone numbers in any notation: with or without a country code or trunk prefix."""

from __future__ import annotations

import re
from collections.abc import Iterator

# ITU-T E.164, list of assigned country codes
_COUNTRY = re.compile("[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|[0-9]{3}")
_INTERNATIONAL = re.compile(r"(?<![0-9A-Za-z+])(?:\+|00(?=(?:[ ().-]*[0-9]){9}))[1-9](?:[ ().-]*[0-9]){6,}")
_CHINESE_MOBILE = re.compile(r"(?<![0-9A-Za-z+])86[ -]*(?=1[3-9](?:[ -]*[0-9]){9}(?![0-9]))")
_TRUNK = re.compile(r"(?<![0-9A-Za-z+])0(?=[1-9](?:[ ().-]*[0-9]){7})")


def as_searched(typed: str) -> str:
    """Return a search without the prefixes of its numbers: the rest is part of the number in every stored notation."""
    typed = _INTERNATIONAL.sub(lambda found: f" {_national(found[0])}", typed)
    return _TRUNK.sub(" ", _CHINESE_MOBILE.sub(" ", typed))


def as_stored(text: str) -> Iterator[str]:
    """Yield the searched forms of a value; an international number also has the form dialled within its country."""
    yield text
    if _INTERNATIONAL.fullmatch(text.strip()):
        yield f"0{_national(text.strip())}"


def _national(number: str) -> str:
    """Return the digits of an international number without prefix, country code and a trunk prefix such as `(0)`."""
    digits = re.sub(r"[^0-9]", "", number.replace("(0)", "")).removeprefix("00")
    return _COUNTRY.sub("", digits, count=1).removeprefix("0")
