"""`Router`: which route a path belongs to, and its parameters."""

from collections.abc import Mapping

import pytest

from handlers.request import Request
from handlers.route import PUBLIC, route
from handlers.routing import Router
from handlers.schema.errors import METHOD_NOT_ALLOWED, NOT_FOUND, ApiError, ErrorKind


async def nothing(_req: Request) -> None:
    """A handler."""


ROUTER = Router(
    route(endpoint, nothing, summary="", access=PUBLIC)
    for endpoint in (
        "GET /api/things",
        "GET /api/things/{id}",
        "PATCH /api/things/{key}",
        "GET /api/things/mine",
        "GET /api/things/{id}/parts/{part}",
        "GET /api/things/mine/parts",
    )
)


@pytest.mark.parametrize(
    ("method", "path", "found", "parameters"),
    [
        ("GET", "/api/things", "/api/things", {}),
        ("GET", "/api/things/7", "/api/things/{id}", {"id": "7"}),
        ("HEAD", "/api/things/7", "/api/things/{id}", {"id": "7"}),
        ("PATCH", "/api/things/7", "/api/things/{key}", {"key": "7"}),
        ("GET", "/api/things/%E9%87%91%2F7", "/api/things/{id}", {"id": "金/7"}),
        ("GET", "/api/things/mine", "/api/things/mine", {}),
        ("GET", "/api/things/%6Dine", "/api/things/mine", {}),
        ("GET", "/api/things/7/parts/8", "/api/things/{id}/parts/{part}", {"id": "7", "part": "8"}),
        ("GET", "/api/things/mine/parts/8", "/api/things/{id}/parts/{part}", {"id": "mine", "part": "8"}),
    ],
)
def test_a_path_has_the_most_literal_route_that_there_is(
    method: str, path: str, found: str, parameters: Mapping[str, str]
) -> None:
    route, values = ROUTER.match(method, path)
    assert (route.path, values) == (found, parameters)


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("GET", "/api/things/", NOT_FOUND),
        ("GET", "/api/things/7/", NOT_FOUND),
        ("GET", "/api/other/7", NOT_FOUND),
        ("GET", "api/things/7", NOT_FOUND),
        ("DELETE", "/api/things/7", METHOD_NOT_ALLOWED),
        ("PATCH", "/api/things/mine", METHOD_NOT_ALLOWED),
    ],
)
def test_what_has_no_route_is_refused(method: str, path: str, kind: ErrorKind) -> None:
    with pytest.raises(ApiError) as error:
        ROUTER.match(method, path)
    assert error.value.kind is kind
