"""Headers that are remembered are those of requests that carry the very same fields, and there is room for them."""

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


def test_the_oldest_are_forgotten() -> None:
    cache = HeadersCache(2)
    first = cache.of([(b"A", b"1")])
    for number in (b"2", b"3"):
        cache.of([(b"A", number)])
    assert cache.of([(b"A", b"1")]) is not first
