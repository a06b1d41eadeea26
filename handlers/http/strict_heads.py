"""Checks the head of a request for what Tornado's own connection accepts but should not."""

from __future__ import annotations

import re

from tornado.httputil import HTTPInputError

_LINE = re.compile(rb"(?:\r\n)?[^ \r\n]+ [^ \r\n]+ HTTP/1\.([01])\r\n")
_BARE = re.compile(rb"(?<!\r)\n|\r(?!\n)")
_CODING = re.compile(rb"\nTransfer-Encoding[ \t]*:", re.IGNORECASE)
_CONNECTION = re.compile(rb"(?<=\n)Connection:([\t\x20-\x7e\x80-\xff]*)\r\n", re.IGNORECASE)


def checked(head: bytes) -> bytes:
    """Return the head; a `Connection: close` among other options is replaced by one that Tornado understands.

    Raises HTTPInputError for a bare CR or LF, another version, and a transfer coding in HTTP/1.0 (RFC 9112 sections
    2.2, 2.3 and 6.1; 9.3 for `Connection`).
    """
    found = _LINE.match(head)
    if found is None or _BARE.search(head) or (found[1] == b"0" and _CODING.search(head)):
        raise HTTPInputError("a head that may be read in two ways")
    options = b",".join(_CONNECTION.findall(head)).lower().split(b",")
    if len(options) > 1 and b"close" in [option.strip(b" \t") for option in options]:
        head = _CONNECTION.sub(b"", head)[:-2] + b"Connection: close\r\n\r\n"
    return head
