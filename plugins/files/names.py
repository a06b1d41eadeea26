"""Keys of stored files, names of files, and the `Content-Disposition` header."""

from __future__ import annotations

import re
import secrets
import unicodedata
from datetime import datetime
from urllib.parse import quote

from plugins.api import NOT_FOUND, ApiError, invalid

MAX_NAME = 200
KEY = re.compile(r"[0-9]{8}-[0-9a-f]{32}\.[a-z0-9]{1,5}")
STEM = 41  # length of a key without its extension, which is unique by itself
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)
_ESCAPED = re.compile(r"%(00|2e|2f|5c)", re.IGNORECASE)
# these reverse text on screen, so that a name shows another extension than it has
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_REPLACED = re.compile(r'[<>:"|?*]')
_ATTR_CHAR = "!#$&+-.^_`|~"  # RFC 8187 section 3.2.1


def new_key(now: datetime, extension: str) -> str:
    """Return a new key that cannot be guessed. It is one path segment. Only the service makes keys."""
    return f"{now:%Y%m%d}-{secrets.token_hex(16)}{extension}"


def check_key(key: str) -> str:
    """Return `key`. Raises 40400 if it does not have the form of one, as for a key without a file."""
    if not KEY.fullmatch(key):
        raise ApiError(NOT_FOUND)
    return key


def clean_name(raw: str, field: str) -> str:
    """Return a display name without folders and without characters that file systems refuse.

    Raises 40001 for `field` for names that no honest client sends: path traversal or an absolute path, escaped or not,
    control characters, characters that change the reading direction, device names, more than 200 characters.
    """
    if any(unicodedata.category(letter) in ("Cc", "Cs") or letter in _DIRECTIONS for letter in raw):
        raise invalid(field, "nul")
    parts = re.split(r"[/\\]", unicodedata.normalize("NFC", raw))
    if parts[0] in ("", "~") or re.fullmatch("[A-Za-z]:", parts[0]) or ".." in parts or _ESCAPED.search(raw):
        raise invalid(field, "pattern")
    name = _REPLACED.sub("_", parts[-1]).strip().strip(".").strip()
    if not name or _RESERVED.match(name):
        raise invalid(field, "pattern")
    if len(name) > MAX_NAME:
        raise invalid(field, "maxLength")
    return name


def disposition(name: str, inline: bool) -> str:
    """Return `Content-Disposition` with the name in UTF-8, and in ASCII for old clients (RFC 6266, RFC 8187)."""
    plain = re.sub(r'[^\x20-\x7e]|["\\%]', "_", name)
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe=_ATTR_CHAR)}"
