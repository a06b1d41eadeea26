"""Forms as they arrive: the pieces in which they come make no difference, and what is malformed is refused."""

from collections.abc import AsyncIterator, Coroutine, Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings, strategies as st

from handlers.http.multipart import FormPart, FormPartEnd, read_form
from plugins.api import ApiError, Route
from tests.api.files.samples import BOUNDARY, form
from tests.support.catalogue import CATALOGUE
from tests.support.document import DOCUMENT

Result = TypeVar("Result")
TYPE = f"multipart/form-data; boundary={BOUNDARY}"


async def feed(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def at_once(work: Coroutine[Any, Any, Result]) -> Result:
    """What a coroutine answers that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as end:
        answer: Result = end.value
        return answer
    raise AssertionError("it waits")


def parts(pieces: Iterable[bytes], media: str = TYPE) -> list[tuple[str, str | None, bytes]]:
    async def read() -> list[tuple[str, str | None, bytes]]:
        found: list[tuple[str, str | None, bytes]] = []
        async for event in read_form(media, feed(pieces)):
            if isinstance(event, FormPart):
                found.append((event.name, event.file_name, b""))
            elif not isinstance(event, FormPartEnd):
                found[-1] = (*found[-1][:2], found[-1][2] + event)
        return found

    return at_once(read())


def refusal(body: bytes, media: str = TYPE) -> int:
    with pytest.raises(ApiError) as refused:
        parts([body], media)
    return refused.value.kind.code


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_form_is_the_same_in_whatever_pieces_it_comes(data: st.DataObject) -> None:
    values = st.lists(st.sampled_from([b"\r\n", b"--", BOUNDARY.encode(), b"-", b"\r", b"x", b"\0"])).map(b"".join)
    fields = [("a", None, data.draw(values)), ("file", "名.bin", data.draw(values))]
    # what stands on a line of its own as a boundary is one
    if any(f"\r\n--{BOUNDARY}".encode() in b"\r\n" + value for _, _, value in fields):
        return
    body, headers = form(*fields)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=20)))
    pieces = [body[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert parts(pieces, headers["Content-Type"]) == fields


MALFORMED = {
    "nothing": b"",
    "no boundary": b"text",
    "another boundary": b"--other\r\n\r\n",
    "no end": form(("a", None, b"x"))[0][:-6],
    "a cut in the head": f"--{BOUNDARY}\r\nContent-Disp".encode(),
    "no disposition": f"--{BOUNDARY}\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode(),
    "another disposition": f"--{BOUNDARY}\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode(),
    "no name": f"--{BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode(),
    "a name that is no UTF-8": f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=".encode() + b"\xff\r\n\r\n",
    "a space in a header's name": f"--{BOUNDARY}\r\nContent Disposition: form-data; name=a\r\n\r\nx".encode(),
    "an endless header": f"--{BOUNDARY}\r\nX: ".encode() + b"x" * 5000,
    "a hundred headers": f"--{BOUNDARY}\r\n".encode() + b"X: y\r\n" * 100,
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_form_is_40000(body: bytes) -> None:
    assert refusal(body) == 40000


@pytest.mark.parametrize(
    ("media", "code"),
    [
        ("", 41500),
        ("application/json", 41500),
        ("multipart/mixed; boundary=x", 41500),
        ("multipart/form-data", 40000),
        ("multipart/form-data; boundary=", 40000),
        (f"multipart/form-data; boundary={'x' * 71}", 40000),
    ],
)
def test_a_form_says_that_it_is_one_and_where_its_parts_end(media: str, code: int) -> None:
    assert refusal(form(("a", None, b"x"))[0], media) == code


def test_the_extended_file_name_is_not_believed() -> None:
    head = 'Content-Disposition: form-data; name="file"; filename="a.txt"; filename*=UTF-8\'\'..%2Fb'
    ((_, name, _),) = parts([f"--{BOUNDARY}\r\n{head}\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode()])
    assert name == "a.txt"


# -- what a route declares

FORMS = [route for route in CATALOGUE.routes if route.form is not None]


def test_every_streamed_post_declares_its_form() -> None:
    streamed = [route for route in CATALOGUE.routes if route.streamed and route.method == "POST"]
    assert streamed
    assert streamed == FORMS


@pytest.mark.parametrize("route", FORMS, ids=lambda route: route.path)
def test_a_declared_form_is_described(route: Route) -> None:
    body = DOCUMENT["paths"][route.path]["post"]["requestBody"]["content"]
    assert list(body) == ["multipart/form-data"]
    shape = DOCUMENT["components"]["schemas"][body["multipart/form-data"]["schema"]["$ref"].rpartition("/")[2]]
    fields = (route.form and route.form.fields) or {}
    assert set(shape["properties"]) == set(fields)
    assert shape["properties"]["file"] == {**shape["properties"]["file"], "type": "string", "format": "binary"}
    assert "maxLength" not in shape["properties"]["file"]
    assert set(shape["required"]) == {name for name, field in fields.items() if field.required}
