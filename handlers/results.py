"""Makes the body of a response from what a handler returned: the declared fields, with the names of records beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handlers.data.lists.filters import Page
from handlers.data.references.record_names import RecordNames
from handlers.docs.response_checks import ResponseChecks
from handlers.request import Request
from handlers.route import Route
from handlers.schema.envelope import ok, project
from handlers.schema.fields import Field
from handlers.schema.naming import References, add_names, collect


@dataclass(frozen=True, slots=True)
class Encoded:
    """The body of a response, made by `encode_once`. A handler may return it instead of values."""

    body: bytes


async def encode_once(request: Request, result: object) -> Encoded:
    """Encode what the handler of this request would return, for all requests to its route in the same language.

    Raises `RuntimeError` outside a request.
    """
    if not isinstance(request.route, Route):
        raise RuntimeError("a result is encoded for the route of a request")
    return Encoded(await encode_result(request, request.route, result))


async def encode_result(request: Request, route: Route, result: object) -> bytes:
    """Return the envelope around the fields that the route declares, with the names of records that they refer to."""
    if isinstance(result, Encoded):
        return result.body
    if route.method == "POST" and isinstance(result, dict) and result.get("id") is not None:
        request.created_id = str(result["id"])
    shape = route.returns
    if isinstance(result, Page):
        values, data = _project_page(shape, result)
    else:
        data = project(shape, result)
        values = [data]
    if shape.holds_names and not _add_kept_names(request, shape, values):
        await _look_up_names(request, shape, values)
    body = ok(data, request.language)
    request.service.parts[ResponseChecks].check(route, result, body)
    return body


def _project_page(shape: Field, page: Page) -> tuple[Sequence[object], object]:
    """Return the items of a page with the fields of `shape` only, and the `data` that consists of them."""
    items = [project(shape, item) for item in page.items]
    data: dict[str, object] = {
        "items": items,
        "total": page.total,
        "page": page.page,
        "page_size": page.page_size,
        "next_cursor": page.next_cursor,
    }
    if shape.sortable_amounts:
        data["sums"] = page.sums
    return items, data


async def name_references(request: Request, shape: Field, shown: Sequence[object]) -> None:
    """Put the names of the records that they refer to into these projected values of `shape`."""
    if shape.holds_names and not _add_kept_names(request, shape, shown):
        await _look_up_names(request, shape, shown)


def _add_kept_names(request: Request, shape: Field, shown: Sequence[object]) -> bool:
    """Put the names that are in memory into these values; return whether none is missing. Never waits."""
    return request.service.parts[RecordNames].in_memory(request.language).add(shape, shown)


async def _look_up_names(request: Request, shape: Field, shown: Sequence[object]) -> None:
    found = References(set)
    collect(shape, shown, found)
    add_names(shape, shown, await request.find_names(found))
