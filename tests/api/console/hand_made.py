"""Requests of the console that cannot be made from a declaration alone (see tests/support/special_requests.py)."""

from __future__ import annotations

from collections.abc import Mapping

from handlers.route import Route
from tests.support.valid_requests import Exercise, HandMade, Maker


async def own_file(maker: Maker, route: Route) -> Exercise:
    return Exercise(maker.admin, route, "/console/start.js")


async def renderer_file(maker: Maker, route: Route) -> Exercise:
    # one that there is not: the others are fetched at set-up
    return Exercise(maker.admin, route, "/console/renderer/0/sdk.js", code=40400)


async def menu_page(maker: Maker, route: Route) -> Exercise:
    return Exercise(await maker.person(), route, "/api/v1/console/pages/crm.customer")


async def of_a_list(maker: Maker, route: Route) -> Exercise:
    return Exercise(await maker.person(), route, route.path.replace("{list}", "crm.customers"))


CONSOLE_HAND_MADE: Mapping[str, HandMade] = {
    "GET /console/{file}": own_file,
    "GET /console/renderer/{version}/{file}": renderer_file,
    "GET /api/v1/console/pages/{menu}": menu_page,
    **{f"GET /api/v1/console/{one}/{{list}}": of_a_list for one in ("records", "panels", "forms", "rows")},
}
