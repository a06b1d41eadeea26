"""The routes of the page descriptions. What a page holds depends on who asks, and in which language."""

from __future__ import annotations

from plugins.api import NOT_FOUND, SIGNED_IN, Message, Refusal, Request, Route, anything, mapping, route
from plugins.console.nodes import Node
from plugins.console.pages import Pages

_PAGE = mapping(anything(), nullable=False, description="A page as the renderer takes it; what it holds may change.")
_NO_PAGE = Message("没有这样的页面，或没有查看权限", "There is no such page, or nothing on it is permitted")


async def menu_page(req: Request) -> Node:
    """The page of a menu, with what the caller may see and do."""
    return await req.part(Pages).of_menu(req)


async def record_page(req: Request) -> Node:
    """The page of one record of a list, with what the caller may see and do."""
    return await req.part(Pages).of_record(req)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/console/pages/{menu}",
        menu_page,
        summary="The page of a menu",
        access=SIGNED_IN,
        returns=_PAGE,
        refusals=(Refusal(NOT_FOUND, hint=_NO_PAGE),),
        etag=True,
        tag="console",
    ),
    route(
        "GET /api/v1/console/records/{list}",
        record_page,
        summary="The page of the records of a list",
        access=SIGNED_IN,
        returns=_PAGE,
        refusals=(Refusal(NOT_FOUND, hint=_NO_PAGE),),
        etag=True,
        tag="console",
    ),
)
