"""What strangers send is bounded in memory, whatever they begin and do not end."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from tornado.netutil import bind_sockets

from handlers.http.addresses import networks
from handlers.http.app import listen
from handlers.http.fast_server import FastServer
from handlers.http.receiving import Receiving
from handlers.schema.errors import RATE_LIMITED, TOO_LARGE, UNAVAILABLE, ApiError
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.testing import Reply, eventually, expect, serving
from tests.support import probe
from tests.support.probe import AT, WIDGETS_AT, Gate
from tests.support.raw_http import Wire, connected, exchange, request
from tests.support.refusals import refused

pytestmark = pytest.mark.gen_test(timeout=60)
MEBIBYTE = 1 << 20
LOGIN = ("POST /api/v1/auth/login", "Content-Type: application/json")
CHUNKED = "Transfer-Encoding: chunked"
ENOUGH = 40_000  # more than a head may have


@asynccontextmanager
async def probing(uri: str, folder: Path, **settings: object) -> AsyncIterator[Running]:
    async with serving(uri, folder, [*load_plugins(("auth", "rbac")), probe.plugin], **settings) as service:
        yield service


async def begun(stack: AsyncExitStack, url: str, size: int, line: str = f"POST {WIDGETS_AT}") -> Wire:
    """A connection that sent the head of a request and all but a byte of its body."""
    wire = await stack.enter_async_context(connected(url))
    await wire.send(request(line, LOGIN[1], f"Content-Length: {size}") + b" " * (size - 1))
    return wire


# -- extensions and trailers


def bodies(filler: bytes) -> Iterator[bytes]:
    """Bodies in chunks, of which nothing but the extensions or trailers is long."""
    yield b"1;x=" + filler + b"\r\na\r\n0\r\n\r\n"
    yield b"1" + b";x" * (len(filler) // 2) + b"\r\na\r\n0\r\n\r\n"
    yield b"1;a=bcdefghi\r\na\r\n" * (len(filler) // 11) + b"0\r\n\r\n"
    yield b"1\r\na\r\n0\r\nX: " + filler + b"\r\n\r\n"
    yield b"1\r\na\r\n0\r\n" + b"X: y\r\n" * (len(filler) // 6) + b"\r\n"


async def test_long_extensions_and_trailers_are_a_head_that_is_too_large(probed: Running) -> None:
    for body in bodies(b"y" * ENOUGH):
        async with connected(probed.url) as wire:
            await wire.send(request(*LOGIN, CHUNKED) + body)
            if probed.service.settings.http == "fast":
                refused(await wire.reply(), 43100)
            else:  # which takes neither, and cuts long ones off without a word
                told = await wire.reader.readline()
                assert told in (b"", b"HTTP/1.1 400 Bad Request\r\n")
                await wire.reader.read(-1)
            assert await wire.closed()


async def test_short_extensions_and_trailers_are_ignored(mongodb_uri: str, tmp_path: Path) -> None:
    async with probing(mongodb_uri, tmp_path, http="fast") as service:
        for body in bodies(b"y" * 60):
            refused(await exchange(service.url, request(*LOGIN, CHUNKED) + body), 40000)  # `a` is no JSON


async def test_trailers_without_an_end_are_refused(probed: Running) -> None:
    async with connected(probed.url) as wire:
        await wire.send(request(*LOGIN, CHUNKED) + b"0\r\n" + b"X1: y\r\n" * 100_000)
        told = await wire.reader.readline()
        if probed.service.settings.http == "fast":
            assert told == b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
            await wire.reader.read(-1)
        else:
            assert told in (b"", b"HTTP/1.1 400 Bad Request\r\n")


async def test_a_head_of_very_many_fields_is_too_large(mongodb_uri: str, tmp_path: Path) -> None:
    many = [f"A{number}:" for number in range(300)]
    async with probing(mongodb_uri, tmp_path, http="fast") as service:
        refused(await exchange(service.url, request("GET /api/health", *many)), 43100)


# -- bodies


def test_bytes_are_counted_by_address_and_in_all() -> None:
    receiving = Receiving(1000, 400)
    taken = [receiving.take("192.0.2.1", 100), receiving.take("192.0.2.1", 100)]
    with pytest.raises(ApiError) as refused:
        receiving.take("192.0.2.1", 100)
    assert (refused.value.kind, refused.value.headers["Retry-After"]) == (RATE_LIMITED, "5")
    receiving.take("2001:db8::1", 300)
    with pytest.raises(ApiError) as refused:
        receiving.take("2001:db8::ffff", 0)  # of the same customer
    assert refused.value.kind is RATE_LIMITED
    receiving.take("192.0.2.2", 200)
    with pytest.raises(ApiError) as refused:
        receiving.take("192.0.2.3", 100)
    assert (refused.value.kind, refused.value.headers["Retry-After"]) == (UNAVAILABLE, "5")
    for size in taken:
        receiving.give_back("192.0.2.1", size)
    receiving.take("192.0.2.3", 100)


def test_a_trusted_proxy_is_no_address_of_its_own() -> None:
    receiving = Receiving(1000, 100, networks(("10.0.0.0/8",)))
    receiving.give_back("10.0.0.1", receiving.take("10.0.0.1", 500))
    assert receiving.held == 0


SMALL_BODIES = {
    "max_body_bytes": 250_000,
    "max_receiving_bytes": 4 * MEBIBYTE,
    "max_receiving_bytes_per_address": MEBIBYTE,
}


async def replies_of(wires: list[Wire]) -> list[Reply]:
    """What the server says when the last byte of each body is there: that it is too large, as nobody has logged in."""
    for wire in wires:
        await wire.send(b" ")
    return [await wire.reply() for wire in wires]


async def begun_and_held(stack: AsyncExitStack, service: Running, number: int) -> list[Wire]:
    """So many requests of which the server holds all but the last byte."""
    wires = [await begun(stack, service.url, 200_000) for _ in range(number)]
    await eventually(lambda: held(service, number * 199_999))
    return wires


async def test_one_address_cannot_have_everything_received(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with probing(mongodb_uri, tmp_path, http=http, **SMALL_BODIES) as service, AsyncExitStack() as stack:
        first = await begun_and_held(stack, service, 5)
        refusals = await replies_of([await begun(stack, service.url, 200_000) for _ in range(7)])
        assert [reply.code for reply in refusals] == [42900] * 7
        assert {reply.headers["Retry-After"] for reply in refusals} == {"5"}
        assert [reply.code for reply in await replies_of(first)] == [TOO_LARGE.code] * 5
        assert service.front.receiving.held == 0
        again = await replies_of(await begun_and_held(stack, service, 5))
        assert [reply.code for reply in again] == [TOO_LARGE.code] * 5


async def held(service: Running, least: int) -> bool:
    return service.front.receiving.held >= least


async def test_a_process_holds_so_much_and_no_more(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    limits = {"max_body_bytes": 250_000, "max_receiving_bytes": MEBIBYTE}
    async with probing(mongodb_uri, tmp_path, http=http, **limits) as service, AsyncExitStack() as stack:
        first = await begun_and_held(stack, service, 5)
        refusals = await replies_of([await begun(stack, service.url, 200_000) for _ in range(35)])
        assert [reply.code for reply in refusals] == [50300] * 35
        assert {reply.headers["Retry-After"] for reply in refusals} == {"5"}
        assert [reply.code for reply in await replies_of(first)] == [TOO_LARGE.code] * 5
        assert service.front.receiving.held == 0


async def test_what_is_left_unfinished_is_given_back(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with probing(mongodb_uri, tmp_path, http=http) as service:
        async with AsyncExitStack() as stack:
            for _ in range(5):
                await begun(stack, service.url, 200_000)
            await eventually(lambda: held(service, 5 * 199_999))

        async def nothing() -> bool:
            return service.front.receiving.held == 0

        await eventually(nothing)


async def test_small_requests_are_served_while_others_fill_the_memory(
    mongodb_uri: str, tmp_path: Path, http: str
) -> None:
    async with probing(mongodb_uri, tmp_path, http=http, **SMALL_BODIES) as service, AsyncExitStack() as stack:
        for _ in range(5):
            await begun(stack, service.url, 209_000)
        await eventually(lambda: held(service, 5 * 208_999))
        body = b'{"username": "nobody", "password": "wrong-Password-1"}'
        refused(await exchange(service.url, request(*LOGIN, body=body)), 40010)


async def test_uploads_are_held_back_and_not_refused(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    limits = {"max_receiving_bytes": MEBIBYTE, "max_receiving_bytes_per_address": MEBIBYTE}
    size, number = 2_000_000, 4
    async with probing(mongodb_uri, tmp_path, http=http, **limits) as service, AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(connected(service.url)) for _ in range(number)]
        head = request(f"POST {AT}/swallow", f"Content-Length: {size}")
        sending = [asyncio.ensure_future(wire.send(head + b" " * size)) for wire in wires]
        await asyncio.sleep(0.2)
        service.service.part(Gate).open.set()
        assert [expect(await wire.reply()) for wire in wires] == [size] * number
        await asyncio.gather(*sending)


# -- requests that are sent before the response to the first is there


async def test_what_comes_behind_a_request_is_bounded_and_refused_after_it(mongodb_uri: str, tmp_path: Path) -> None:
    limits = {"max_body_bytes": 250_000, "max_receiving_bytes": MEBIBYTE}
    async with probing(mongodb_uri, tmp_path, http="fast", **limits) as service, AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(connected(service.url)) for _ in range(30)]
        behind = request("POST /api/v1/auth/login", "Content-Length: 200000") + b" " * 60_000
        for wire in wires:
            await wire.send(request(f"GET {AT}/wait") + behind)
        await eventually(lambda: held(service, 15 * 60_000))
        assert service.front.receiving.held <= MEBIBYTE
        service.service.part(Gate).open.set()
        codes = []
        for wire in wires:
            expect(await wire.reply())
            wire.writer.write(b" " * 140_000)
            codes.append((await wire.reply()).code)
        assert sorted(set(codes)) == [41500, 50300]
        assert codes.count(41500) >= 10


async def test_requests_behind_a_finished_one_are_served_in_turn(probed: Running) -> None:
    async with connected(probed.url) as wire:
        ids = [f"number-{number}" for number in range(100)]
        await wire.send(
            request(f"GET {AT}/echo?q=first")
            + b"".join(request("GET /api/health", f"X-Request-ID: {id}") for id in ids)
        )
        expect(await wire.reply())
        assert [(await wire.reply()).headers["X-Request-ID"] for _ in ids] == ids


async def test_a_client_that_reads_no_response_is_asked_for_no_further_request(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with probing(mongodb_uri, tmp_path) as service:
        (listening,) = bind_sockets(0, "127.0.0.1")
        server = await listen(service.front, [listening], "fast")
        assert isinstance(server, FastServer)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        size = len((await exchange(url, request("GET /api/openapi.json"))).body)
        async with connected(url) as wire:
            number = 3 + 24_000_000 // size  # more than the buffers of both sockets hold
            await wire.send(request("GET /api/openapi.json") * number)

            async def full() -> bool:
                return any(connection.unsent for connection in server.connections)

            await eventually(full)
            await asyncio.sleep(0.2)
            (unsent,) = (connection.unsent for connection in server.connections if connection.unsent)
            assert unsent <= 2 * size
            assert [len((await wire.reply()).body) for _ in range(number)] == [size] * number
        server.stop()
        await server.close_all_connections()


async def test_an_upload_that_trickles_is_cut_off_at_the_limit_of_requests(
    mongodb_uri: str, tmp_path: Path, http: str
) -> None:
    clock = asyncio.get_running_loop().time
    async with probing(mongodb_uri, tmp_path, http=http, request_seconds=1) as service, connected(service.url) as wire:
        service.service.part(Gate).open.set()
        await wire.send(request(f"POST {AT}/swallow", "Content-Length: 100000"))

        async def trickle() -> None:
            while True:
                await wire.send(b" ")
                await asyncio.sleep(0.05)

        trickling, began = asyncio.ensure_future(trickle()), clock()
        refused(await wire.reply(), 40800)
        assert 0.9 < clock() - began < 3
        trickling.cancel()
        assert await wire.closed()


async def test_an_upload_that_is_slow_but_steady_goes_on(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    async with probing(mongodb_uri, tmp_path, http=http, request_seconds=0.5) as service:
        service.service.part(Gate).open.set()
        async with connected(service.url) as wire:
            await wire.send(request(f"POST {AT}/swallow", f"Content-Length: {20 * 8192}"))
            for _ in range(20):
                await wire.send(b" " * 8192)
                await asyncio.sleep(0.06)
            assert expect(await wire.reply()) == 20 * 8192


async def test_an_upload_that_the_server_holds_back_is_not_idle(mongodb_uri: str, tmp_path: Path, http: str) -> None:
    size = 8_000_000
    async with probing(mongodb_uri, tmp_path, http=http, request_seconds=1) as service, connected(service.url) as wire:
        head = request(f"POST {AT}/swallow", f"Content-Length: {size}")
        sending = asyncio.ensure_future(wire.send(head + b" " * size))
        await asyncio.sleep(3.2)  # longer than anybody may be silent, and than the pause between two looks
        service.service.part(Gate).open.set()
        assert expect(await wire.reply()) == size
        await sending
