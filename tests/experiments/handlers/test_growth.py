"""What a parser costs grows with its input and no faster, and nothing on the event loop takes long.

Inputs double three times; the processor time of a byte may not grow. It is the best of several measurements, as a busy
machine only ever adds: the larger input, which takes nearly all of the time, is measured until one of them is in order.
"""

from __future__ import annotations

import io
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from handlers.data.lists.filters import after_cursor, sort_keys
from handlers.data.lists.search import search_filter
from handlers.http.multipart import read_form
from handlers.schema.errors import ApiError
from handlers.schema.validation import Checker, parse_json
from handlers.tables.archives import NoWorkbook, TooLargeUnpacked, check_archive, is_archive
from handlers.tables.columns import Columns
from handlers.tables.reading import Unreadable, read_table
from plugins.cms.cleaning import clean, clean_markdown
from plugins.cms.complexity import TooComplex
from plugins.crm.records import CUSTOMERS
from plugins.files.images import is_sound_image, is_sound_svg
from plugins.files.types import BY_MEDIA
from tests.experiments.growing_inputs import (
    BOUNDARY,
    CSV,
    CURSORS,
    HTML,
    IMAGES,
    JSON,
    MARKDOWN,
    MULTIPART,
    SEARCH,
    SVG,
    XLSX,
    Maker,
)
from tests.support.probe import WIDGETS

KIB = 1 << 10
DOUBLINGS, TIMES, TRIES = 3, 3, 3
MORE_PER_BYTE = 3.0  # a quadratic one takes eight times as much for a byte after three doublings
LEAST_OF_A_BYTE = 1e-10  # below, the clock decides
UNNOTICED_SECONDS = 0.004
STANDS_SECONDS = 0.05
REFUSALS = (ApiError, TooComplex, Unreadable, NoWorkbook, TooLargeUnpacked)
Parser = Callable[[bytes], Any]
CHECK = Checker(WIDGETS.create)
KEYS = sort_keys(WIDGETS, None)


def json(raw: bytes) -> None:
    CHECK(parse_json(raw, 32, 20_000))


def form(raw: bytes) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(raw), 64 * KIB):
            yield raw[at : at + 64 * KIB]

    async def read() -> None:
        async for _ in read_form(f"multipart/form-data; boundary={BOUNDARY}", chunks()):
            pass

    with suppress(StopIteration):
        read().send(None)  # it waits for nothing


def table(folder: Path) -> Parser:
    def read(raw: bytes) -> None:
        path = folder / "table"
        path.write_bytes(raw)
        if is_archive(path):
            check_archive(path)
        read_table(iter(()), str(path), str(folder / "lines"), Columns(CUSTOMERS).widths(names_only=True))

    return read


def best(parse: Parser, raw: bytes, times: int = TIMES) -> float:
    """Seconds of processor time."""
    took = []
    for _ in range(times):
        began = time.process_time()
        with suppress(*REFUSALS):
            parse(raw)
        took.append(time.process_time() - began)
    return min(took)


def grows_no_faster(parse: Parser, make: Maker, size: int) -> None:
    """Measured again where it seems to, as the first size may have been lucky and the last one not."""
    small, large = make(size), make(size << DOUBLINGS)
    measured = []
    for _ in range(TRIES):
        first = best(parse, small) / len(small)
        for _ in range(TIMES):
            took = best(parse, large, times=1)
            last = took / len(large)
            if took < UNNOTICED_SECONDS or last < MORE_PER_BYTE * max(first, LEAST_OF_A_BYTE):
                return
            measured.append((first * 1e9, last * 1e9))
    raise AssertionError(f"nanoseconds of a byte of {len(small)} and of {len(large)} bytes: {measured}")


def each(makers: Mapping[str, Maker]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("make", makers.values(), ids=makers)


@each(JSON)
def test_json(make: Maker) -> None:
    grows_no_faster(json, make, 64 * KIB)


@each(MULTIPART)
def test_forms(make: Maker) -> None:
    grows_no_faster(form, make, 128 * KIB)


@each(CSV)
def test_csv(make: Maker, tmp_path: Path) -> None:
    grows_no_faster(table(tmp_path), make, 64 * KIB)


@each(XLSX)
def test_workbooks(make: Maker, tmp_path: Path) -> None:
    grows_no_faster(table(tmp_path), make, 64 * KIB)


@each(HTML)
def test_html(make: Maker) -> None:
    grows_no_faster(lambda raw: clean(raw.decode()), make, 16 * KIB)


@each(MARKDOWN)
def test_markdown(make: Maker) -> None:
    grows_no_faster(lambda raw: clean_markdown(iter([raw])), make, 4 * KIB)


@each(SVG)
def test_drawings(make: Maker) -> None:
    grows_no_faster(lambda raw: is_sound_svg(io.BytesIO(raw)), make, 64 * KIB)


@pytest.mark.parametrize(
    ("media", "make"),
    [(media, make) for media, makers in IMAGES.items() for make in makers.values()],
    ids=[f"{media} {name}" for media, makers in IMAGES.items() for name in makers],
)
def test_images(media: str, make: Maker) -> None:
    type = BY_MEDIA[media]
    grows_no_faster(lambda raw: is_sound_image(io.BytesIO(raw), type, 1_000_000), make, 64 * KIB)


@each(SEARCH)
def test_search_texts(make: Maker) -> None:
    grows_no_faster(lambda raw: search_filter(raw.decode()), make, 2 * KIB)


@each(CURSORS)
def test_cursors(make: Maker) -> None:
    grows_no_faster(lambda raw: after_cursor(WIDGETS, KEYS, raw.decode()), make, 4 * KIB)


# -- what runs on the event loop, at its largest


def stands_no_longer(parse: Parser, raw: bytes) -> None:
    took = min(best(parse, raw) for _ in range(TRIES))
    assert took < STANDS_SECONDS, f"{took * 1000:.0f} ms of processor time"


@each(JSON)
def test_a_body_of_a_mebibyte_does_not_hold_the_loop(make: Maker) -> None:
    stands_no_longer(json, make(KIB * KIB)[: KIB * KIB])


@each(HTML)
def test_a_short_article_does_not_hold_the_loop(make: Maker) -> None:
    stands_no_longer(lambda raw: clean(raw.decode()), make(4000)[:4000])


@each(SEARCH)
def test_a_search_as_long_as_a_head_does_not_hold_the_loop(make: Maker) -> None:
    stands_no_longer(lambda raw: search_filter(raw.decode(errors="ignore")), make(16 * KIB))


@each(CURSORS)
def test_a_cursor_as_long_as_a_head_does_not_hold_the_loop(make: Maker) -> None:
    stands_no_longer(lambda raw: after_cursor(WIDGETS, KEYS, raw.decode()), make(16 * KIB))


@each(MULTIPART)
def test_a_piece_of_a_form_does_not_hold_the_loop(make: Maker) -> None:
    stands_no_longer(form, make(64 * KIB)[: 64 * KIB])


def test_the_test_itself_finds_what_grows_faster() -> None:
    def quadratic(raw: bytes) -> None:
        for at in range(0, len(raw), 64):
            raw[at:].count(b"y")

    with pytest.raises(AssertionError, match="nanoseconds"):
        grows_no_faster(quadratic, lambda size: b"x" * size, 16 * KIB)
