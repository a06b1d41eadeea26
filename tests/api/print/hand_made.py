"""Requests of print that cannot be made from a declaration alone (see tests/support/special_requests.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from handlers.route import Route
from plugins.testing import unique
from tests.support.valid_requests import Exercise, HandMade, Maker

AT = "/api/v1/print"


async def template(maker: Maker, route: Route) -> Exercise:
    """Return a request for a template of a paper that exists."""
    derived = await maker.derived(route)
    return replace(
        derived,
        body={**derived.body, "name": unique("template"), "paper": "voucher", "preferred": False, "source": "x"},
    )


async def preview(maker: Maker, route: Route) -> Exercise:
    """Return a request for a short template."""
    return Exercise(maker.admin, route, route.path, {"paper": "voucher", "language": "en", "source": "x"})


async def check(maker: Maker, route: Route) -> Exercise:
    """Return a request about a token that is none of ours."""
    return Exercise(maker.admin, route, route.path.replace("{token}", "voucher.1.en.a.b.c"))


PRINT_HAND_MADE: Mapping[str, HandMade] = {
    f"POST {AT}/templates": template,
    f"PATCH {AT}/templates/{{id}}": template,
    f"POST {AT}/templates/preview": preview,
    f"GET {AT}/check/{{token}}": check,
    "GET /print/{token}": check,
}
