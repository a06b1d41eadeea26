"""Why a reader may differ from the strict one: a difference to which none of these arguments applies is a fault."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import httptools

from tests.support.hostile_http.reading import Asked, Reading


@dataclass(frozen=True)
class Case:
    """A connection as read by one reader and by the strict one."""

    reader: str
    sent: bytes
    strict: Reading
    found: Reading

    @cached_property
    def agreed(self) -> int:
        """How many requests at the beginning are equal in both."""
        pairs = zip(self.strict.requests, self.found.requests, strict=False)
        return next(
            (at for at, (one, other) in enumerate(pairs) if one != other),
            min(len(self.strict.requests), len(self.found.requests)),
        )

    @property
    def next_strict(self) -> Asked | None:
        """The first request that only the strict reader found in this form, or None."""
        return self.strict.requests[self.agreed] if self.agreed < len(self.strict.requests) else None

    @property
    def next_found(self) -> Asked | None:
        """The first request that only the reader found in this form, or None."""
        return self.found.requests[self.agreed] if self.agreed < len(self.found.requests) else None

    @property
    def last_agreed(self) -> Asked | None:
        """The last request that both found, or None."""
        return self.found.requests[self.agreed - 1] if self.agreed else None

    @property
    def differs(self) -> bool:
        """Whether the requests differ, or the state of the connection after equal requests."""
        if self.next_strict or self.next_found:
            return True
        return (self.strict.ended == "waiting") != (self.found.ended == "waiting")

    @property
    def stricter(self) -> bool:
        """Whether the reader stopped earlier and closed, so that it reads nothing differently from other readers."""
        ahead, found = self.next_strict, self.next_found
        begun_alike = found is None or (found.body is None and ahead is not None and found.same_head(ahead))
        last = self.agreed + (found is not None) == len(self.found.requests)
        return begun_alike and last and self.found.ended != "waiting"

    @property
    def early(self) -> bool:
        """Whether the reader refused while the strict one still waits for the end of the same line or body."""
        return (
            not self.next_strict
            and not self.next_found
            and self.strict.ended == "waiting"
            and self.found.ended == "refused"
        )

    def ahead(self, name: str) -> tuple[str, ...]:
        """Return the values of a field in the request that only the strict reader accepted."""
        fields = self.next_strict.fields if self.next_strict else ()
        return next((values for given, values in fields if given == name), ())


@dataclass(frozen=True)
class Argument:
    """Why a difference is not a fault: for which readers, when, and the reason."""

    name: str
    readers: tuple[str, ...]
    applies: Callable[[Case], bool]
    why: str


class _Head:
    """Notes whether llhttp finds the end of a head."""

    found = False

    def on_headers_complete(self) -> None:
        """httptools: the head is complete."""
        self.found = True


def _takes(line: str) -> bool:
    """Return whether llhttp accepts a request line."""
    head = _Head()
    with suppress(httptools.HttpParserError, httptools.HttpParserUpgrade):
        httptools.HttpRequestParser(head).feed_data(f"{line}\r\n\r\n".encode("latin-1"))
    return head.found


def _odd_method(case: Case) -> bool:
    asked = case.next_strict
    return (
        case.stricter and asked is not None and not _takes(f"{asked.method} /a HTTP/1.1") and asked.method != "CONNECT"
    )


def _odd_target(case: Case) -> bool:
    asked = case.next_strict
    method = "CONNECT" if asked and asked.method == "CONNECT" else "GET"
    return case.stricter and asked is not None and not _takes(f"{method} {asked.target} HTTP/1.1")


def _odd_length(case: Case) -> bool:
    lengths = case.ahead("content-length")
    plain = len(lengths) == 1 and lengths[0].isdigit() and len(lengths[0]) <= 20
    return case.stricter and bool(lengths) and not (plain and int(lengths[0]) < _LARGEST[case.reader])


def _odd_coding(case: Case) -> bool:
    codings = case.ahead("transfer-encoding")
    return case.stricter and bool(codings) and [coding.lower() for coding in codings] != ["chunked"]


def _tab_after_coding(case: Case) -> bool:
    return case.stricter and _CODING_AND_TAB.search(case.sent) is not None


def _chunked_body(case: Case, refused: re.Pattern[bytes]) -> bool:
    """Return whether a chunked body was refused, and the bytes sent contain something that matches `refused`."""
    found = case.next_found
    cut = found is not None and found.body is None and case.stricter
    return cut and bool(case.ahead("transfer-encoding")) and refused.search(case.sent) is not None


def _after_old(case: Case) -> bool:
    last = case.last_agreed
    return case.stricter and case.found.ended == "closed" and last is not None and last.version == "HTTP/1.0"


def _kept_open(case: Case) -> bool:
    last = case.last_agreed
    return case.strict.ended == "closed" and last is not None and last.version == "HTTP/1.0" and not case.next_strict


def _after_tunnel(case: Case) -> bool:
    last = case.last_agreed
    return case.stricter and case.found.ended == "closed" and last is not None and last.method == "CONNECT"


def _head_alone(case: Case) -> bool:
    """Return whether the reader began and then refused a request that the strict one refused because of its framing."""
    found = case.next_found
    last = case.agreed + 1 == len(case.found.requests) and not case.next_strict
    refused = case.strict.ended == "refused" and case.strict.reason in _OF_BODIES and case.found.ended == "refused"
    return found is not None and found.body is None and last and refused


def _after_trailer(case: Case) -> bool:
    return case.stricter and case.last_agreed is not None and _FRAMING_TRAILER.search(case.sent) is not None


_OF_BODIES = ("length", "transfer coding", "a length beside a transfer coding")
_LARGEST = {"fast": 1 << 64, "llhttp": 1 << 64, "tornado": 1 << 40}
_CODING_AND_TAB = re.compile(rb"(?i)\ntransfer-encoding:[^\r\n]*\t\r?\n")
_LONG_SIZE = re.compile(rb"[0-9A-Fa-f]{17}")
_LONG_LINE = re.compile(rb"[^\r\n]{62}")
_LARGE_SIZE = re.compile(rb"[0-9A-Fa-f]{11}")
_EXTENSION = re.compile(rb"[0-9A-Fa-f][ \t]*;")
_TRAILER = re.compile(rb"0(?:[ \t]*;[^\r]*)?\r\n[^\r]")
_FRAMING_TRAILER = re.compile(rb"(?i)(content-length|transfer-encoding|connection|upgrade)[ \t]*:")


def _lax(*reasons: str) -> Callable[[Case], bool]:
    """Return a condition: the strict reader refused for one of these reasons."""
    return lambda case: case.strict.reason in reasons and (case.next_strict is None or case.next_strict.body is None)


ARGUMENTS: tuple[Argument, ...] = (
    Argument(
        "early",
        ("fast", "llhttp", "tornado"),
        lambda case: case.early,
        "The strict reader waits for the end of a line or a body before it judges; to refuse sooner is to read less.",
    ),
    Argument(
        "methods",
        ("fast", "llhttp"),
        _odd_method,
        "llhttp knows the registered methods alone; others are refused and the connection is closed.",
    ),
    Argument(
        "targets",
        ("fast", "llhttp"),
        _odd_target,
        "llhttp takes paths, `*`, absolute URLs and ASCII alone; others are refused and the connection is closed.",
    ),
    Argument(
        "lengths",
        ("fast", "llhttp", "tornado"),
        _odd_length,
        "RFC 9112 section 6.3 lets a server refuse lists of equal lengths; one beyond what can be counted is refused too.",
    ),
    Argument(
        "codings",
        ("fast", "llhttp", "tornado"),
        _odd_coding,
        "A list with empty elements (`chunked,`) is nothing that clients send; it is refused and the connection is closed.",
    ),
    Argument(
        "tabs",
        ("fast", "llhttp"),
        _tab_after_coding,
        "llhttp takes no tab after a transfer coding; the request is refused and the connection is closed.",
    ),
    Argument(
        "sizes",
        ("fast", "llhttp"),
        lambda case: _chunked_body(case, _LONG_SIZE),
        "A size of a chunk has sixteen digits at most.",
    ),
    Argument(
        "tunnels",
        ("fast",),
        _after_tunnel,
        "After CONNECT, which is declined, the connection is closed: what follows may be meant for a tunnel.",
    ),
    Argument(
        "HTTP/1.0",
        ("fast", "tornado"),
        _after_old,
        "In HTTP/1.0 a connection is kept for `Connection: keep-alive` alone, by Tornado not after a POST without a length.",
    ),
    Argument(
        "chunks of Tornado",
        ("tornado",),
        lambda case: any(_chunked_body(case, kind) for kind in (_EXTENSION, _TRAILER, _LONG_LINE, _LARGE_SIZE)),
        "Tornado's connection takes no extensions, no trailers and no chunk over its limit; it closes the connection.",
    ),
    Argument(
        "heads of Tornado",
        ("tornado",),
        _head_alone,
        "Tornado's connection looks at the length when the delegate has the head, then refuses: no request is served.",
    ),
    # llhttp alone shows what the fast connection would accept without its own checks
    Argument(
        "llhttp: upgrades",
        ("llhttp",),
        lambda case: case.found.reason == "upgrade",
        "llhttp stops at an offer to upgrade; handlers/http/fast_connection.py reads the body of what it declines.",
    ),
    Argument(
        "llhttp: request lines",
        ("llhttp",),
        _lax("request line", "version", "a bare CR or LF in the request line"),
        "llhttp takes two blanks, other protocols, HTTP/0.9 and any CR and LF before a request; handlers/http/fast_head.py does not.",
    ),
    Argument(
        "llhttp: close",
        ("llhttp",),
        _kept_open,
        "llhttp keeps a connection of HTTP/1.0 for `keep-alive, close`; handlers/http/fast_head.py does not.",
    ),
    Argument(
        "llhttp: codings",
        ("llhttp",),
        _lax("transfer coding", "a transfer coding in HTTP/1.0"),
        "llhttp takes codings before `chunked`, and `chunked` in HTTP/1.0; handlers/http/fast_head.py does not.",
    ),
    Argument(
        "llhttp: extensions",
        ("llhttp",),
        _lax("chunk"),
        "llhttp takes an extension whose value is empty; handlers/http/fast_body.py does not.",
    ),
    Argument(
        "llhttp: blanks in extensions",
        ("llhttp",),
        lambda case: _chunked_body(case, _EXTENSION),
        "llhttp refuses blanks around an extension, which RFC 9112 section 7.1.1 lets be.",
    ),
    Argument(
        "llhttp: trailers",
        ("llhttp",),
        lambda case: _chunked_body(case, _FRAMING_TRAILER) or _after_trailer(case),
        "llhttp heeds framing fields in trailers; handlers/http/fast_body.py drops trailers, as RFC 9110 section 6.5.1 asks.",
    ),
)
