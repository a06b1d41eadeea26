"""What both HTTP connections promise: to every sequence of bytes the same response, byte for byte, or a refusal.

So what other tests prove of the fast connection holds for Tornado's own. What is no matter of bytes alone is proved for
that one too by the tests that this file takes from others, with `http` set to `tornado`.

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
from plugins.boot.runtime import Running
from tests.api.handlers.test_bad_requests import (
    MALFORMED_QUERIES,
    MALFORMED_TARGETS,
    NO_HTTP,
    NOWHERE,
    test_a_body_shorter_than_it_says_is_never_served,
    test_a_client_that_waits_for_100_continue_gets_the_interim_response,
    test_headers_without_end_are_cut_off,
    test_many_small_headers_are_too_large_together,
    test_pipelined_requests_get_responses_in_order,
    test_what_follows_a_body_is_another_request,
)
from tests.api.handlers.test_core_routes import (
    odd,
    test_a_client_that_goes_away_leaves_no_open_request,
    test_a_handler_that_takes_too_long_is_given_up,
    test_a_request_that_never_ends_is_cut_off,
    test_an_idle_connection_is_closed,
)
from tests.api.handlers.test_cors import LISTED, STRANGERS
from tests.api.handlers.test_sockets import (
    test_a_client_that_leaves_during_the_handshake_is_no_open_conversation,
    test_a_message_right_behind_the_handshake_is_heard,
    test_a_stopping_server_says_that_it_goes_away,
    test_a_token_in_the_header_opens_a_conversation,
    test_without_a_token_the_handshake_is_refused,
)
from tests.api.handlers.test_wire import (
    test_a_bug_tells_the_request_id_and_nothing_of_the_inside,
    test_head_returns_the_headers_of_get_without_the_body,
)
from tests.experiments.handlers.test_draining import (
    test_a_request_that_has_just_arrived_is_not_idle,
    test_every_request_of_a_pipeline_gets_a_response,
    test_what_is_half_received_or_half_read_is_waited_for,
)
from tests.experiments.handlers.test_receiving import (
    test_a_process_holds_so_much_and_no_more,
    test_an_upload_that_is_slow_but_steady_goes_on,
    test_an_upload_that_the_server_holds_back_is_not_idle,
    test_an_upload_that_trickles_is_cut_off_at_the_limit_of_requests,
    test_long_extensions_and_trailers_are_a_head_that_is_too_large,
    test_trailers_without_an_end_are_refused,
    test_uploads_are_held_back_and_not_refused,
    test_what_is_left_unfinished_is_given_back,
)
from tests.support.probe import AT, WIDGETS_AT
from tests.support.raw_http import request
from tests.system.handlers.test_tls import (
    authority,
    secured,
    test_a_handshake_that_does_not_end_is_closed_while_others_are_served,
    test_a_new_certificate_is_for_new_connections_and_open_ones_go_on,
    test_a_websocket_talks,
    test_large_responses_and_pipelined_requests_arrive_whole,
    test_plain_http_and_old_versions_are_refused,
)
from tests.system.handlers.test_unix_socket import test_both_the_socket_and_the_port_are_served
from tests.system.handlers.test_upgrades_declined import (
    HIDDEN,
    NEXT,
    OFFERS,
    in_chunks,
    test_a_body_that_comes_later_is_no_request,
)

__all__ = [
    "authority",
    "odd",
    "secured",
    "test_a_body_shorter_than_it_says_is_never_served",
    "test_a_body_that_comes_later_is_no_request",
    "test_a_bug_tells_the_request_id_and_nothing_of_the_inside",
    "test_a_client_that_goes_away_leaves_no_open_request",
    "test_a_client_that_leaves_during_the_handshake_is_no_open_conversation",
    "test_a_client_that_waits_for_100_continue_gets_the_interim_response",
    "test_a_handler_that_takes_too_long_is_given_up",
    "test_a_handshake_that_does_not_end_is_closed_while_others_are_served",
    "test_a_message_right_behind_the_handshake_is_heard",
    "test_a_new_certificate_is_for_new_connections_and_open_ones_go_on",
    "test_a_process_holds_so_much_and_no_more",
    "test_a_request_that_has_just_arrived_is_not_idle",
    "test_a_request_that_never_ends_is_cut_off",
    "test_a_stopping_server_says_that_it_goes_away",
    "test_a_token_in_the_header_opens_a_conversation",
    "test_a_websocket_talks",
    "test_an_idle_connection_is_closed",
    "test_an_upload_that_is_slow_but_steady_goes_on",
    "test_an_upload_that_the_server_holds_back_is_not_idle",
    "test_an_upload_that_trickles_is_cut_off_at_the_limit_of_requests",
    "test_both_the_socket_and_the_port_are_served",
    "test_every_request_of_a_pipeline_gets_a_response",
    "test_head_returns_the_headers_of_get_without_the_body",
    "test_headers_without_end_are_cut_off",
    "test_large_responses_and_pipelined_requests_arrive_whole",
    "test_long_extensions_and_trailers_are_a_head_that_is_too_large",
    "test_many_small_headers_are_too_large_together",
    "test_pipelined_requests_get_responses_in_order",
    "test_plain_http_and_old_versions_are_refused",
    "test_trailers_without_an_end_are_refused",
    "test_uploads_are_held_back_and_not_refused",
    "test_what_follows_a_body_is_another_request",
    "test_what_is_half_received_or_half_read_is_waited_for",
    "test_what_is_left_unfinished_is_given_back",
    "test_without_a_token_the_handshake_is_refused",
]
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


OF_OTHER_TESTS = {
    **{f"target {target}": head(f"GET {target} HTTP/1.1") for target in (*NOWHERE, *MALFORMED_TARGETS)},
    **{f"query {query[:20]}": head(f"GET {AT}/echo?{query} HTTP/1.1") for query in MALFORMED_QUERIES},
    **{f"no HTTP: {name}": sent for name, sent in NO_HTTP.items()},
    **{f"method {name}": head(f"{name} /api/health HTTP/1.1") for name in ("TRACE", "PATCH", "CONNECT")},
    **{f"origin {one}": head("GET /api/health HTTP/1.1", f"Origin: {one}") for one in (*STRANGERS, *LISTED)},
    **{
        f"{method} that offers {name}": request(f"{method} /api/health", *offer, body=HIDDEN) + NEXT
        for name, offer in OFFERS.items()
        for method in ("GET", "POST", "OPTIONS")
    },
    **{
        f"chunks that offer {name}": request("POST /api/health", *offer, "Transfer-Encoding: chunked")
        + in_chunks(HIDDEN)
        + NEXT
        for name, offer in OFFERS.items()
    },
    "a target that is too long": head(f"GET /api/health?{'a' * 16_384} HTTP/1.1"),
    "a long field": head("GET /api/health HTTP/1.1", f"X-Padding: {'a' * 15_000}"),
    "a trace": head("GET /api/health HTTP/1.1", f"traceparent: 00-{'4b' * 16}-{'f0' * 8}-01"),
    "a language": head("GET /api/nowhere HTTP/1.1", "Accept-Language: en-GB,en;q=0.9"),
    "a bad key": head(f"POST {WIDGETS_AT} HTTP/1.1", "Idempotency-Key: a b", JSON, "Content-Length: 2", body=b"{}"),
    "a stranger's large body": head(f"POST {WIDGETS_AT} HTTP/1.1", JSON, "Content-Length: 70000", body=b" " * 70_000),
}


@pytest.fixture(scope="module")
def http() -> str:
    """The connection of the tests that are taken from others."""
    return "tornado"


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
    for name in (b"WWW-Authenticate", b"traceparent"):  # Tornado writes every name in its own way
        answer = answer.replace(name.title(), name)
    return answer, closed


async def differences(ports: Ports, requests: dict[str, bytes], *, strictly: bool = False) -> dict[str, object]:
    """The requests that are answered otherwise; those apart that the fast connection refuses, alone unless `strictly`."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def compared(name: str, sent: bytes) -> tuple[str, object]:
        async with gate:
            slow, fast = await asyncio.gather(told(ports["tornado"], sent), told(ports["fast"], sent))
        # `close` beside other words, or twice, is `close` for one and nothing for the other
        closed_earlier = CLOSING.sub(b"", slow[0]).startswith(CLOSING.sub(b"", fast[0]))
        stricter = fast[1] and (refused(fast[0]) or closed_earlier) and (refused(slow[0]) or not strictly)
        taken = refused(slow[0]) and TAKEN.search(sent)
        return name, None if slow == fast or stricter or taken else (sent[:300], slow, fast)

    every = await asyncio.gather(*(compared(name, sent) for name, sent in requests.items()))
    return {name: difference for name, difference in every if difference is not None}


def refused(answer: bytes) -> bool:
    """Whether the last answer says that this is no HTTP."""
    return re.findall(rb'"code":(\d+)', answer)[-1:] == [b"40000"]


def served(answer: bytes) -> bool:
    """Whether it is more than a refusal."""
    return answer != b"" and not refused(answer)


async def test_valid_requests_get_the_same_response(ports: Ports) -> None:
    assert await differences(ports, VALID) == {}
    answers = {name: (await told(ports["fast"], sent))[0] for name, sent in VALID.items()}
    # llhttp knows the registered methods alone
    assert [name for name, answer in answers.items() if refused(answer)] == ["unknown method"]


async def test_what_the_tests_of_one_connection_send_gets_the_same_response(ports: Ports) -> None:
    assert await differences(ports, OF_OTHER_TESTS, strictly=True) == {}


async def test_what_smuggles_a_request_gets_the_same_response_or_is_refused(ports: Ports) -> None:
    assert await differences(ports, SMUGGLING) == {}


async def test_a_request_that_two_readers_may_cut_differently_is_refused(ports: Ports) -> None:
    ambiguous = [name for name in SMUGGLING if name not in HARMLESS]
    told_of = await asyncio.gather(*(told(ports["fast"], SMUGGLING[name]) for name in ambiguous))
    read = {
        name: answer for name, (answer, closed) in zip(ambiguous, told_of, strict=True) if not closed or served(answer)
    }
    assert read == {}


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
