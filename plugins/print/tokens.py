"""The token on a paper: which record it is of, in which language, and a digest of what it said. Nothing is stored for it.

It has two signatures: one of itself, and one together with the number and the total on the paper, which it does not
contain. A token whose signing secret is no longer listed is no longer ours.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from dataclasses import dataclass
from typing import Literal

from plugins.api import NOT_FOUND, ApiError
from plugins.api.requests import Signatures
from plugins.api.values import Language

Verdict = Literal["equal", "older", "altered"]
_PURPOSE = "print.paper"
_FOREVER = 253_402_300_799  # the end of 9999
_PARTS = 6
_NOT_IN_AMOUNTS = re.compile(r"[\s,，¥￥$€£]")


@dataclass(frozen=True)
class Token:
    """What a token says: `about` are the id or the parameters of what was read, in their order."""

    paper: str
    about: tuple[str, ...]
    language: Language
    digest: str

    def sign(self, signatures: Signatures, number: str, total: str) -> str:
        """Return the token of a paper with this number and total."""
        signed = (self._values(), self._values(number, total))
        seals = (signatures.sign(_PURPOSE, values, _FOREVER) for values in signed)
        return ".".join([self.paper, ",".join(self.about), self.language, self.digest, *map(_pack, seals)])

    def agrees(self, signatures: Signatures, seal: str, *figures: str) -> bool:
        """Return whether a signature is ours, of the token itself or together with number and total."""
        return signatures.is_valid(_PURPOSE, self._values(*figures), _FOREVER, _unpack(seal))

    def _values(self, *figures: str) -> dict[str, str]:
        named = zip(("number", "total"), map(_plain, figures), strict=False)
        own = {"paper": self.paper, "about": ",".join(self.about), "language": self.language, "digest": self.digest}
        return {**own, **dict(named)}


def read_token(text: str) -> tuple[Token, str, str]:
    """Return what a token says, and its two signatures. Raises 40400 for another form."""
    parts = text.split(".")
    if len(parts) != _PARTS or parts[2] not in ("zh", "en"):
        raise ApiError(NOT_FOUND)
    language: Language = "zh" if parts[2] == "zh" else "en"
    return Token(parts[0], tuple(parts[1].split(",")), language, parts[3]), parts[4], parts[5]


def _plain(figure: str) -> str:
    """Return a number or an amount without what people type differently: blanks, separators, signs of currencies."""
    return _NOT_IN_AMOUNTS.sub("", figure).casefold()


def _pack(seal: str) -> str:
    return urlsafe_b64encode(bytes.fromhex(seal)).decode().rstrip("=")


def _unpack(seal: str) -> str:
    try:
        return urlsafe_b64decode(f"{seal}=").hex()
    except (Error, ValueError):
        return ""
