"""Keys of stored files, names of files, and how a name is told to a browser."""

from __future__ import annotations

import re
import secrets
import unicodedata
from datetime import datetime
from urllib.parse import quote

from plugins.api import NOT_FOUND, ApiError, invalid

MAX_NAME = 200
KEY = re.compile(r"[0-9]{8}-[0-9a-f]{32}\.[a-z0-9]{1,5}")
STEM = 41  # letters of a key before its extension; they are unique by themselves
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)
_ESCAPED = re.compile(r"%(00|2e|2f|5c)", re.IGNORECASE)
# they turn `exe.gpj` round on the screen
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNWELCOME = re.compile(r'[<>:"|?*]')
_ATTR_CHAR = "!#$&+-.^_`|~"  # RFC 8187 section 3.2.1


def new_key(now: datetime, extension: str) -> str:
    """A key that cannot be guessed, in one path segment; the service makes every key, clients make none."""
    return f"{now:%Y%m%d}-{secrets.token_hex(16)}{extension}"


def checked_key(key: str) -> str:
    """`key`, when it has the form of one; 40400 otherwise, as for every key of nothing."""
    if not KEY.fullmatch(key):
        raise ApiError(NOT_FOUND)
    return key


def clean_name(raw: str, field: str) -> str:
    """A display name without its folders and without what file systems refuse.

    40001 on `field` for what no honest client sends: a way up or an absolute path, escaped or not, control
    characters, characters that turn the reading direction, names of devices, more than 200 characters.
    """
    if any(unicodedata.category(letter) in ("Cc", "Cs") or letter in _DIRECTIONS for letter in raw):
        raise invalid(field, "nul")
    parts = re.split(r"[/\\]", unicodedata.normalize("NFC", raw))
    if parts[0] in ("", "~") or re.fullmatch("[A-Za-z]:", parts[0]) or ".." in parts or _ESCAPED.search(raw):
        raise invalid(field, "pattern")
    name = _UNWELCOME.sub("_", parts[-1]).strip().strip(".").strip()
    if not name or _RESERVED.match(name):
        raise invalid(field, "pattern")
    if len(name) > MAX_NAME:
        raise invalid(field, "maxLength")
    return name


def disposition(name: str, inline: bool) -> str:
    """`Content-Disposition` with the name in UTF-8 and an ASCII one for old clients (RFC 6266, RFC 8187)."""
    plain = re.sub(r'[^\x20-\x7e]|["\\%]', "_", name)
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe=_ATTR_CHAR)}"
