"""Both connections find the requests of a strict reading in hostile bytes, or refuse them and close.

`TRADEWIND_TEST_CONNECTIONS` sets how many are generated, `TRADEWIND_TEST_SEED` which ones.
"""

import os

import pytest

from tests.support.hostile_http.arguments import ARGUMENTS, Case
from tests.support.hostile_http.compare import compare_known, run
from tests.support.hostile_http.generator import CANARY
from tests.support.hostile_http.known import KNOWN
from tests.support.hostile_http.reading import Asked, Reading, fields_of
from tests.support.hostile_http.strict import read_strictly

CONNECTIONS = int(os.environ.get("TRADEWIND_TEST_CONNECTIONS", "2500"))
SEED = os.environ.get("TRADEWIND_TEST_SEED", "connections")


def told(cases: list[Case]) -> list[str]:
    return [f"{case.reader}: {case.sent[:300]!r}: {case.found} in place of {case.strict}" for case in cases[:5]]


def asked(method: str, target: str, body: bytes | None = b"", **fields: str) -> Asked:
    pairs = [("Host", "h"), *((name.replace("_", "-"), value) for name, value in fields.items())]
    return Asked(method, target, "HTTP/1.1", fields_of(pairs), body)


async def every_difference() -> set[str]:
    report = await compare_known()
    assert told(report.differences) == []
    assert report.connections > 2 * len(KNOWN)
    return set(report.argued)


@pytest.mark.gen_test(timeout=60)
async def test_known_tricks_split_nobody_and_every_argument_is_needed() -> None:
    assert await every_difference() == {argument.name for argument in ARGUMENTS}


@pytest.mark.gen_test(timeout=60)
async def test_generated_connections_split_nobody() -> None:
    report = await run(CONNECTIONS, SEED)
    assert told(report.differences) == []
    assert report.connections == CONNECTIONS


def test_every_argument_has_a_name_of_its_own_and_a_reason() -> None:
    assert len({argument.name for argument in ARGUMENTS}) == len(ARGUMENTS)
    assert all(argument.why.endswith(".") for argument in ARGUMENTS)


# -- what would be a fault


def differs(sent: bytes, found: Reading) -> bool:
    case = Case("fast", sent, read_strictly(sent), found)
    return case.differs and not any(argument.applies(case) for argument in ARGUMENTS if "fast" in argument.readers)


def test_a_body_that_is_read_as_a_request_is_a_difference() -> None:
    sent = KNOWN["an offer with a body"]
    body = asked("GET", "/a", b"", Upgrade="h2c", Content_Length="33")
    hidden = Asked("GET", "/hidden", "HTTP/1.1", fields_of([("Host", "h")]), b"")
    assert differs(sent, Reading((body, hidden), "waiting"))


def test_a_request_that_is_not_seen_on_a_connection_that_stays_open_is_a_difference() -> None:
    sent = KNOWN["two requests"]
    assert differs(sent, Reading((asked("GET", "/a"),), "waiting"))
    assert not differs(sent, read_strictly(sent))


def test_a_request_behind_the_last_one_is_a_difference() -> None:
    sent = KNOWN["closed"] + CANARY
    canary = Asked("GET", "/canary", "HTTP/1.1", fields_of([("Host", "canary")]), b"")
    assert differs(sent, Reading((asked("GET", "/a"), canary), "closed"))


def test_an_open_connection_after_a_refusal_is_a_difference() -> None:
    assert differs(KNOWN["two blanks before the target"], Reading((), "waiting"))


# -- the strict reading


@pytest.mark.parametrize(
    ("name", "requests", "ended"),
    [
        ("two bodies", 2, "waiting"),
        ("an offer with chunks", 1, "waiting"),
        ("closed", 1, "closed"),
        ("CL.TE", 0, "refused"),
        ("TE.CL", 0, "refused"),
        ("two lengths", 0, "refused"),
        ("the same length twice", 1, "waiting"),
        ("LF for all ends", 0, "waiting"),
        ("LF after a field", 0, "refused"),
        ("HTTP/1.0", 1, "closed"),
        ("HTTP/1.0, kept", 1, "waiting"),
        ("trailers", 1, "waiting"),
        ("a coding in HTTP/1.0, kept", 0, "refused"),
        ("LF in an extension, then CRLF", 1, "refused"),
        ("nothing", 0, "waiting"),
        ("a body that is a request", 1, "waiting"),
        ("a body without a length", 2, "waiting"),
        ("ICE/1.0", 0, "refused"),
    ],
)
def test_the_strict_reading_is_that_of_the_rfc(name: str, requests: int, ended: str) -> None:
    reading = read_strictly(KNOWN[name])
    assert (len(reading.requests), reading.ended) == (requests, ended)
