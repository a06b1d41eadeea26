"""The fast connection gives the answers of Tornado's own, byte for byte, or refuses what that one lets pass.

`TRADEWIND_TEST_MUTANTS` sets how many mutated requests are tried; thousands take minutes.
"""

import asyncio
import os
import random
import re
from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets

from handlers.http.app import Front, listen
from plugins.runtime import Running
from tests.support.probe import AT, WIDGETS_AT

pytestmark = pytest.mark.gen_test(timeout=60)
MUTANTS = int(os.environ.get("TRADEWIND_TEST_MUTANTS", "300"))
SILENCE_SECONDS = 1.5
AT_ONCE = 40
CHANGING = re.compile(rb"(?m)^(Date|X-Request-Id): [^\r\n]*\r\n", re.IGNORECASE)
CLOSING = re.compile(rb"(?m)^Connection: close\r\n")
REQUEST_ID = re.compile(rb'"request_id":"[0-9a-f]{32}"')
CONTINUE = re.compile(rb"HTTP/1\.1 100 [^\r\n]*\r\n\r\n")
# what RFC 9112 section 7.1 lets a server take, and Tornado does not: extensions of chunks, and trailers
TAKEN = re.compile(rb"Transfer-Encoding: *chunked", re.IGNORECASE)
Ports = dict[str, int]


def head(line: str, *fields: str, body: bytes = b"") -> bytes:
    """A request whose answer closes the connection."""
    return "\r\n".join((line, "Host: test", "Connection: close", *fields, "", "")).encode("latin-1") + body


JSON = "Content-Type: application/json"
VALID = {
    "get": head("GET /api/health HTTP/1.1"),
    "query": head(f"GET {AT}/echo?q=%E6%99%A8%E5%85%89 HTTP/1.1", "Accept-Language: en"),
    "head": head("HEAD /api/health HTTP/1.1"),
    "options": head("OPTIONS /api/health HTTP/1.1"),
    "preflight": head(
        "OPTIONS /api/health HTTP/1.1", "Origin: http://localhost:5173", "Access-Control-Request-Method: POST"
    ),
    "cors": head("GET /api/health HTTP/1.1", "Origin: http://localhost:5173"),
    "unknown path": head("GET /nowhere HTTP/1.1"),
    "unknown method": head("BREW /api/health HTTP/1.1"),
    "method not allowed": head("DELETE /api/health HTTP/1.1"),
    "unauthenticated": head(f"GET {WIDGETS_AT} HTTP/1.1"),
    "forged": head(f"GET {WIDGETS_AT} HTTP/1.1", "Authorization: Bearer x.y.z"),
    "body": head(f"POST {WIDGETS_AT} HTTP/1.1", JSON, "Content-Length: 2", body=b"{}"),
    "chunked": head(f"POST {WIDGETS_AT} HTTP/1.1", JSON, "Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"),
    "no body": head(f"POST {WIDGETS_AT} HTTP/1.1", "Content-Length: 0"),
    "expects": head(f"POST {WIDGETS_AT} HTTP/1.1", JSON, "Content-Length: 2", "Expect: 100-continue", body=b"{}"),
    "address as host": b"GET /api/health HTTP/1.1\r\nHost: [::1]:8000\r\nConnection: close\r\n\r\n",
    "empty host": b"GET /api/health HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n",
    "1.0": b"GET /api/health HTTP/1.0\r\n\r\n",
    "1.0 kept alive, then closed": b"GET /api/health HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /api/health HTTP/1.0\r\n\r\n",
    "pipelined": b"GET /api/health HTTP/1.1\r\nHost: test\r\n\r\n" + head("GET /nowhere HTTP/1.1"),
    "body, then another": b"POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
    + head("GET /nowhere HTTP/1.1"),
    "request id": head("GET /nowhere HTTP/1.1", "X-Request-ID: abc"),
    "twice the same field": head(f"GET {AT}/echo HTTP/1.1", "Accept-Language: en", "Accept-Language: zh"),
    "large body": head(f"POST {WIDGETS_AT} HTTP/1.1", JSON, "Content-Length: 2000000", body=b"a" * 2_000_000),
    "large head": head("GET /api/health HTTP/1.1", "X-Long: " + "a" * 20_000),
    "empty line before": b"\r\n" + head("GET /api/health HTTP/1.1"),
}
SMUGGLING = {
    "both lengths": head(
        "POST /nowhere HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked", body=b"0\r\n\r\nx"
    ),
    "two lengths": head("POST /nowhere HTTP/1.1", "Content-Length: 5", "Content-Length: 6", body=b"abcdef"),
    "the same length twice": head("POST /nowhere HTTP/1.1", "Content-Length: 5", "Content-Length: 5", body=b"abcde"),
    "a list of lengths": head("POST /nowhere HTTP/1.1", "Content-Length: 5, 5", body=b"abcde"),
    "a signed length": head("POST /nowhere HTTP/1.1", "Content-Length: +5", body=b"abcde"),
    "a negative length": head("POST /nowhere HTTP/1.1", "Content-Length: -5", body=b"abcde"),
    "a length in hex": head("POST /nowhere HTTP/1.1", "Content-Length: 0x5", body=b"abcde"),
    "a space before the colon": head("POST /nowhere HTTP/1.1", "Content-Length : 5", body=b"abcde"),
    "a folded field": head("GET /nowhere HTTP/1.1", "X-A: b", " c: d"),
    "a bare LF": b"GET /nowhere HTTP/1.1\nHost: a\nConnection: close\n\n",
    "a bare CR": b"GET /nowhere HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
    "a NUL": head("GET /nowhere HTTP/1.1", "X-A: b\x00c"),
    "a field without a name": head("GET /nowhere HTTP/1.1", ": b"),
    "a field without a colon": head("GET /nowhere HTTP/1.1", "nonsense"),
    "a chunk size that is none": head("POST /nowhere HTTP/1.1", "Transfer-Encoding: chunked", body=b"zz\r\n\r\n"),
    "a chunk size with a sign": head(
        "POST /nowhere HTTP/1.1", "Transfer-Encoding: chunked", body=b"+2\r\n{}\r\n0\r\n\r\n"
    ),
    "a huge chunk size": head("POST /nowhere HTTP/1.1", "Transfer-Encoding: chunked", body=b"fffffffffffffffff\r\n"),
    "a chunk that is longer": head(
        "POST /nowhere HTTP/1.1", "Transfer-Encoding: chunked", body=b"1\r\n{}\r\n0\r\n\r\n"
    ),
    "a chunk extension": head("POST /nowhere HTTP/1.1", "Transfer-Encoding: chunked", body=b"2;a=b\r\n{}\r\n0\r\n\r\n"),
    "trailers": head("POST /nowhere HTTP/1.1", "Transfer-Encoding: chunked", body=b"0\r\nHost: evil\r\n\r\n"),
    "a coding before chunked": head("POST /nowhere HTTP/1.1", "Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"),
    "chunked that is not last": head(
        "POST /nowhere HTTP/1.1", "Transfer-Encoding: chunked, identity", body=b"0\r\n\r\n"
    ),
    "xchunked": head("POST /nowhere HTTP/1.1", "Transfer-Encoding: xchunked", body=b"0\r\n\r\n"),
    "chunked in HTTP/1.0": b"POST /nowhere HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two hosts": head("GET /nowhere HTTP/1.1", "Host: other"),
    "the same host twice": head("GET /nowhere HTTP/1.1", "Host: test"),
    "no host": b"GET /nowhere HTTP/1.1\r\nConnection: close\r\n\r\n",
    "a host with a path": b"GET /nowhere HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n",
    "a host with a user": b"GET /nowhere HTTP/1.1\r\nHost: a@b\r\nConnection: close\r\n\r\n",
    "two hosts in HTTP/1.0": b"GET /nowhere HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n",
    "HTTP/2.0": head("GET /nowhere HTTP/2.0"),
    "two spaces": head("GET  /nowhere HTTP/1.1"),
    "an absolute target": head("GET http://other/api/health HTTP/1.1"),
    "a TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
}

# where a request ends is the same for every reader
HARMLESS = {
    "HTTP/0.9",  # the rest of a head is waited for
    "the same length twice",
    "a chunk extension",
    "trailers",
    "an absolute target",
}


@pytest.fixture(scope="module")
def ports(io_loop: IOLoop, probed: Running) -> Iterator[Ports]:
    """The same service behind both connections."""
    opened = {}
    servers = []

    async def open_both() -> None:
        for http in ("tornado", "fast"):
            sockets = bind_sockets(0, "127.0.0.1")
            servers.append(await listen(Front(probed.service), sockets, http))
            opened[http] = sockets[0].getsockname()[1]

    io_loop.run_sync(open_both)
    yield opened
    for server in servers:
        server.stop()
        io_loop.run_sync(server.close_all_connections)


async def told(port: int, sent: bytes) -> tuple[bytes, bool]:
    """All that the server answers but what changes each time, and whether it closed the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer, closed = b"", False
    try:
        writer.write(sent)
        async with asyncio.timeout(SILENCE_SECONDS):
            while piece := await reader.read(65_536):
                answer += piece
            closed = True
    except TimeoutError:
        pass
    except ConnectionError:
        closed = True
    finally:
        writer.close()
    answer = CONTINUE.sub(b"", REQUEST_ID.sub(b"", CHANGING.sub(b"", answer)))
    return answer.replace(b"Www-Authenticate", b"WWW-Authenticate"), closed


async def differences(ports: Ports, requests: dict[str, bytes]) -> dict[str, object]:
    """The requests that are answered otherwise, those that only the fast connection refuses apart."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def compared(name: str, sent: bytes) -> tuple[str, object]:
        async with gate:
            slow, fast = await asyncio.gather(told(ports["tornado"], sent), told(ports["fast"], sent))
        # `close` beside other words, or twice, is `close` for one and nothing for the other
        closed_earlier = CLOSING.sub(b"", slow[0]).startswith(CLOSING.sub(b"", fast[0]))
        stricter = fast[1] and (refused(fast[0]) or closed_earlier)
        taken = refused(slow[0]) and TAKEN.search(sent)
        return name, None if slow == fast or stricter or taken else (sent[:300], slow, fast)

    every = await asyncio.gather(*(compared(name, sent) for name, sent in requests.items()))
    return {name: difference for name, difference in every if difference is not None}


def refused(answer: bytes) -> bool:
    """Whether the last answer says that this is no HTTP."""
    return re.findall(rb'"code":(\d+)', answer)[-1:] == [b"40000"]


async def test_valid_requests_get_the_same_response(ports: Ports) -> None:
    assert await differences(ports, VALID) == {}
    answers = {name: (await told(ports["fast"], sent))[0] for name, sent in VALID.items()}
    # llhttp knows the registered methods alone
    assert [name for name, answer in answers.items() if refused(answer)] == ["unknown method"]


async def test_what_smuggles_a_request_gets_the_same_response_or_is_refused(ports: Ports) -> None:
    assert await differences(ports, SMUGGLING) == {}


@pytest.mark.parametrize("name", [name for name in SMUGGLING if name not in HARMLESS])
async def test_a_request_that_two_readers_may_cut_differently_is_refused(ports: Ports, name: str) -> None:
    answer, closed = await told(ports["fast"], SMUGGLING[name])
    assert closed
    assert answer == b"" or refused(answer)


async def test_mutated_requests_get_the_same_response_or_are_refused(ports: Ports) -> None:
    pick = random.Random(os.environ.get("TRADEWIND_TEST_SEED", "mutants"))
    small = [sent for sent in (*VALID.values(), *SMUGGLING.values()) if len(sent) < 2000]
    mutants = {f"mutant {number}": mutated(pick, pick.choice(small)) for number in range(MUTANTS)}
    assert await differences(ports, mutants) == {}


def mutated(pick: random.Random, sent: bytes) -> bytes:
    """The request with one to three faults."""
    for _ in range(pick.randint(1, 3)):
        at = pick.randrange(len(sent) + 1)
        fault = pick.randrange(6)
        if fault == 0:
            sent = sent[:at] + bytes([pick.randrange(256)]) + sent[at:]
        elif fault == 1:
            sent = sent[:at] + sent[at + 1 :]
        elif fault == 2:
            sent = sent[:at] + bytes([pick.choice(b"\r\n\t :,;\x00\x7f\xff0a")]) + sent[at + 1 :]
        elif fault == 3:
            lines = sent.split(b"\r\n")
            line = pick.randrange(len(lines))
            sent = b"\r\n".join([*lines[:line], lines[line], *lines[line:]])
        elif fault == 4:
            sent = sent.replace(b"\r\n", b"\n", 1)
        else:
            sent = sent.replace(b"close", pick.choice([b"keep-alive", b"Close", b"close, te", b"upgrade"]), 1)
        sent = sent or b"G"
    return sent
