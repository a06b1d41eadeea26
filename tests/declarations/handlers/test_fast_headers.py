"""What is remembered of heads serves requests with the very same bytes or fields, and there is room for it."""

import pytest

from handlers.http.fast_head import HeadReader, HeadsCache
from handlers.http.fast_headers import Headers, HeadersCache

Fields = list[tuple[bytes, bytes]]
HOST = (b"Host", b"localhost")


def kept(cache: HeadersCache, fields: Fields) -> bool:
    """Whether a second request with these fields has the headers of the first."""
    first, second = (cache.of(list(fields)) for _ in range(2))
    return first is second


def test_requests_with_the_same_fields_share_their_headers_and_others_do_not() -> None:
    cache = HeadersCache(10)
    shared = cache.of([HOST, (b"Accept", b"a")])
    assert cache.of([HOST, (b"Accept", b"a")]) is shared
    for other in ([HOST], [HOST, (b"Accept", b"b")], [HOST, (b"Accept", b"a"), (b"Accept", b"b")]):
        assert cache.of(other).get("Accept") == Headers(other).get("Accept") != shared.get("Accept")


def test_long_fields_and_many_fields_are_not_remembered() -> None:
    cache = HeadersCache(10)
    assert kept(cache, [HOST, (b"A", b"x" * 1000)])
    assert not kept(cache, [HOST, (b"A", b"x" * 3000)])
    assert not kept(cache, [HOST, *((b"A%d" % number, b"x") for number in range(100))])


@pytest.mark.parametrize("name", [b"Idempotency-Key", b"x-request-id", b"Traceparent"])
def test_fields_that_are_unique_to_a_request_are_not_remembered(name: bytes) -> None:
    cache = HeadersCache(10)
    assert not kept(cache, [HOST, (name, b"x")])


def test_the_oldest_are_forgotten() -> None:
    cache = HeadersCache(2)
    first = cache.of([(b"A", b"1")])
    for number in (b"2", b"3"):
        cache.of([(b"A", number)])
    assert cache.of([(b"A", b"1")]) is not first


GET = b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"


def test_a_head_that_was_read_before_serves_every_connection() -> None:
    cache = HeadsCache(10)
    first, end = HeadReader(65536, cache).read(GET + GET, 0)
    second, _ = HeadReader(65536, cache).read(GET + GET, end)
    assert first is second is not None
    other, _ = HeadReader(65536, cache).read(GET.replace(b"/a", b"/b"), 0)
    assert other is not None
    assert other.start.path == "/b"
    assert other.headers is first.headers


def test_each_request_with_a_head_that_was_read_before_has_a_body_of_its_own() -> None:
    reader = HeadReader(65536, HeadsCache(10))
    data = POST + b"ab" + POST + b"cd" + GET
    at, bodies, heads = 0, [], []
    for _ in range(2):
        head, at = reader.read(data, at)
        assert head is not None
        heads.append(head)
        body = head.body(65536)
        assert body is not None
        piece, at = body.read(data, at)
        bodies.append((piece, body.complete))
    last, end = reader.read(data, at)
    assert heads[0] is heads[1]
    assert bodies == [(b"ab", True), (b"cd", True)]
    assert last is not None
    assert (last.start.method, last.body(65536), end) == ("GET", None, len(data))


@pytest.mark.parametrize(
    "raw",
    [
        GET.replace(b"Host", b"Connection: close\r\nHost"),
        GET.replace(b"Host", b"Transfer-Encoding: chunked\r\nHost"),
        GET.replace(b"Host", b"Connection: Upgrade\r\nUpgrade: websocket\r\nHost"),
        GET.replace(b"Host", b"Idempotency-Key: 1\r\nHost"),
        GET.replace(b"Host", b"A: " + b"x" * 3000 + b"\r\nHost"),
        GET.replace(b"Host", b"".join(b"A%d: x\r\n" % number for number in range(100)) + b"Host"),
    ],
)
def test_long_and_unique_heads_and_heads_that_change_what_follows_are_read_each_time(raw: bytes) -> None:
    cache = HeadsCache(10)
    first, second = (HeadReader(65536, cache).read(raw, 0)[0] for _ in range(2))
    assert first is not second
    assert first is not None
    assert second is not None
    assert first.start == second.start


def test_a_reader_goes_on_behind_a_head_that_was_read_before() -> None:
    cache = HeadsCache(10)
    HeadReader(65536, cache).read(GET, 0)
    reader = HeadReader(65536, cache)
    heads = [reader.read(raw, 0)[0] for raw in (GET, POST, GET, POST, GET.replace(b"/a", b"/c"))]
    assert [head.start[:2] if head else None for head in heads] == [
        ("GET", "/a"),
        ("POST", "/a"),
        ("GET", "/a"),
        ("POST", "/a"),
        ("GET", "/c"),
    ]
    part, _ = reader.read(GET[:20], 0)
    rest, _ = reader.read(GET[20:], 0)
    assert part is None
    assert rest is not None
    assert rest.start.path == "/a"
