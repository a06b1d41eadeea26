"""Random connections: requests from a grammar in which every part is sometimes odd, with faults added."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.support.hostile_http.known import HIDDEN, KNOWN

CANARY = b"GET /canary HTTP/1.1\r\nHost: canary\r\n\r\n"
_METHODS = (
    "GET",
    "POST",
    "HEAD",
    "PUT",
    "OPTIONS",
    "DELETE",
    "PATCH",
    "CONNECT",
    "QUERY",
    "get",
    "BREW",
    "SOURCE",
    "PRI",
)
_VERSIONS = (
    ("HTTP/1.1",) * 12 + ("HTTP/1.0",) * 4 + ("HTTP/1.2", "HTTP/2.0", "ICE/1.0", "RTSP/1.0", "HTTP/0.9", "http/1.1", "")
)
_TARGETS = ("/", "/a", "/a?b=c", "*", "http://h/a", "h:443", "/a#b", "/\xe9", "/a%00", "a", "", "/a b")
_BLANKS = (" ",) * 30 + ("  ", "\t", "", "\xa0", " \t")
_ENDS = ("\r\n",) * 60 + ("\n", "\r", "\r\r\n", "\n\r", "")
_CONNECTIONS = (
    "close",
    "keep-alive",
    "Upgrade",
    "upgrade, close",
    "keep-alive, Upgrade",
    "te, close",
    "Close",
    "close, te",
    "closed",
    "",
)
_UPGRADES = ("h2c", "websocket", "TLS/1.0", "h2c, websocket", "")
_CODINGS = ("chunked",) * 12 + (
    "Chunked",
    "chunked,",
    "gzip, chunked",
    "chunked, chunked",
    "identity",
    "xchunked",
    "",
    "\x0bchunked",
    "chunked\x00",
    "chunked;a",
)
_SIZES = ("{:x}",) * 12 + (
    "{:X}",
    "{:08x}",
    "0x{:x}",
    "+{:x}",
    "-{:x}",
    " {:x}",
    "{:x} ",
    "{:x}\t",
    "{:x};a",
    "{:x};a=b",
    '{:x} ; a="b"',
    "{:x};",
    "{:x};a\n",
    "{:x};a\rb",
    "1{:016x}",
    "{:x}_0",
    "{:x}g",
)
_LENGTHS = ("{}",) * 12 + (
    "0{}",
    "+{}",
    "-{}",
    "{0}, {0}",
    "{},",
    "{}, 0",
    "0x{}",
    "{}.0",
    "{} ",
    "{}_0",
    "1{:020}",
    "\x0b{}",
    "",
)
_ODD_FIELDS = (
    "X: y",
    "X:",
    "X : y",
    ": y",
    "X",
    " X: y",
    "X: \x00",
    "X: a\rb",
    "X: a\nb",
    "X: \xff",
    "Expect: 100-continue",
    "Content_Length: 3",
    "Host: other",
    "X: \x7f",
)
_ODD_BYTES = (
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b" ",
    b"\t",
    b":",
    b";",
    b",",
    b"\x00",
    b"\x0b",
    b"\x7f",
    b"\x85",
    b"\xff",
    b"0",
    b"5",
    b"a",
    b"+",
    b"-",
    b"_",
    b'"',
    b"\\",
)


def generate(pick: random.Random) -> bytes:
    """Return the bytes of one connection; the two requests at its end show whether it is still read in step."""
    kind = pick.random()
    if kind < 0.6:
        sent = b"".join(_request(pick) for _ in range(pick.choice((1, 1, 1, 2, 3))))
    elif kind < 0.8:
        sent = pick.choice(_KNOWN)
    else:
        sent = pick.choice(_KNOWN) + pick.choice(_KNOWN)
    for _ in range(pick.choice((0, 0, 0, 1, 1, 2, 3))):
        sent = _with_fault(pick, sent)
    return sent + CANARY + CANARY


_KNOWN = tuple(sent for sent in KNOWN.values() if len(sent) < 2000)


def cut(pick: random.Random, sent: bytes) -> list[bytes]:
    """Return the same bytes in pieces, as they may arrive."""
    way = pick.randrange(8)
    if way < 3:
        return [sent]
    if way == 3 and len(sent) < 400:
        return [sent[at : at + 1] for at in range(len(sent))]
    places = sorted(pick.randrange(len(sent) + 1) for _ in range(pick.randint(1, 6)))
    pieces = [sent[begin:end] for begin, end in zip([0, *places], [*places, len(sent)], strict=True)]
    return [piece for piece in pieces if piece]


def _request(pick: random.Random) -> bytes:
    body = pick.choice(
        (b"", b"", b"hello", HIDDEN, b"0\r\n\r\n", bytes(pick.randrange(256) for _ in range(pick.randrange(30))))
    )
    framing, coded = _framing(pick, body)
    method = pick.choice(_METHODS if pick.random() < 0.4 else ("GET", "POST", "POST"))
    target = pick.choice(_TARGETS) if pick.random() < 0.2 else "/a"
    first = f"{method}{pick.choice(_BLANKS)}{target}{pick.choice(_BLANKS)}{pick.choice(_VERSIONS)}"
    fields = ["Host: h", *framing]
    if pick.random() < 0.4:
        fields.append(f"Connection: {pick.choice(_CONNECTIONS)}")
    if pick.random() < 0.25:
        fields.append(f"Upgrade: {pick.choice(_UPGRADES)}")
    if pick.random() < 0.15:
        fields.append(pick.choice(_ODD_FIELDS))
    pick.shuffle(fields)
    before = pick.choice(("\r\n", "\r\n\r\n", "\n", "\r")) if pick.random() < 0.05 else ""
    lines = [first, *fields, ""]
    return (before + "".join(line + pick.choice(_ENDS) for line in lines)).encode("latin-1") + coded


def _framing(pick: random.Random, body: bytes) -> tuple[list[str], bytes]:
    """Return fields that give the length of the body, and the body as it is sent."""
    way = pick.random()
    if way < 0.3:
        return ([], b"") if pick.random() < 0.8 else ([], body)
    length = f"Content-Length: {pick.choice(_LENGTHS).format(len(body))}"
    if way < 0.6:
        return [length] * pick.choice((1, 1, 1, 1, 2)), body
    coding = f"Transfer-Encoding: {pick.choice(_CODINGS)}"
    coded = _chunked(pick, body)
    if way < 0.9:
        return [coding] * pick.choice((1, 1, 1, 1, 2)), coded
    return [length, coding], pick.choice((body, coded))


def _chunked(pick: random.Random, body: bytes) -> bytes:
    parts: list[bytes] = []
    while body:
        size = pick.randint(1, len(body))
        parts.append(_size(pick, size) + body[:size] + _end(pick))
        body = body[size:]
    trailers = "".join(pick.choice(_ODD_FIELDS) + pick.choice(_ENDS) for _ in range(pick.choice((0, 0, 0, 1, 2))))
    return b"".join(parts) + _size(pick, 0) + trailers.encode("latin-1") + _end(pick)


def _size(pick: random.Random, size: int) -> bytes:
    odd = pick.choice(_SIZES) if pick.random() < 0.25 else "{:x}"
    return odd.format(size).encode("latin-1") + _end(pick)


def _end(pick: random.Random) -> bytes:
    return pick.choice(_ENDS).encode() if pick.random() < 0.3 else b"\r\n"


def _with_fault(pick: random.Random, sent: bytes) -> bytes:
    at = pick.randrange(len(sent) + 1)
    fault = pick.randrange(6)
    if fault == 0:
        return sent[:at] + pick.choice(_ODD_BYTES) + sent[at:]
    if fault == 1:
        return sent[:at] + sent[at + 1 :]
    if fault == 2:
        return sent[:at] + pick.choice(_ODD_BYTES) + sent[at + 1 :]
    if fault == 3:
        return _with_line_twice(pick, sent.split(b"\r\n"))
    if fault == 4:
        return sent.replace(
            *pick.choice(((b"\r\n", b"\n"), (b": ", b":"), (b"\r\n", b"\r\n "), (b"HTTP/1.1", b"HTTP/1.0"))), 1
        )
    return sent[:at]


def _with_line_twice(pick: random.Random, lines: Sequence[bytes]) -> bytes:
    line = pick.randrange(len(lines))
    return b"\r\n".join([*lines[: line + 1], *lines[line:]])
