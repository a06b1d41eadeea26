"""Makes the page of a menu and the page of a record for one person; a page that several people share is made once."""

from collections.abc import Callable, Hashable, Iterator, Sequence

from cachetools import LRUCache

from plugins.api import (
    NOT_FOUND,
    SIGNED_IN,
    ApiError,
    Collection,
    Message,
    Refusal,
    Request,
    Route,
    anything,
    mapping,
    route,
)
from plugins.api.records import Catalogue, Dictionaries, Entries
from plugins.console.actions import create_button
from plugins.console.dashboards import dashboards_page
from plugins.console.home import HOME, home_page
from plugins.console.lists import boxes, chosen_rows, listing, months
from plugins.console.nodes import Node, node, page, tabs
from plugins.console.records import panel, record_page
from plugins.console.reports import reports
from plugins.console.site import DASHBOARDS, Site
from plugins.console.viewer import Viewer, view

_KEPT = 64
_PAGE = mapping(anything(), nullable=False, description="A page as the renderer takes it; what it holds may change.")
_NO_PAGE = Message("页面不存在，或没有查看权限", "There is no such page, or you may not see it")


class Pages:
    """The pages of one process. The most recently used ones are kept."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.site = Site(catalogue)
        self._made: LRUCache[Hashable, tuple[Entries, Node | None]] = LRUCache(_KEPT)

    async def viewer(self, req: Request) -> Viewer:
        """Return the view of the caller."""
        return await view(req, self.site, await req.part(Dictionaries).current())

    async def page(self, req: Request, make: Callable[[Viewer, str], Node | None]) -> Node:
        """Return the page that the path names, for the caller. Raises 40400 if there is none for them."""
        viewer, (name,) = await self.viewer(req), req.path.values()
        key = (make, name, viewer.language, viewer.allowed, viewer.empty)
        known, made = self._made.get(key, (None, None))
        if known is not viewer.entries:  # the first time, or after a change of a dictionary
            made = make(viewer, name)
            self._made[key] = viewer.entries, made
        if made is None:
            raise ApiError(NOT_FOUND)
        return made


def menu_page(viewer: Viewer, code: str) -> Node | None:
    """Return the page of a menu, or of the inbox by its name, or None for a menu that no plugin declares."""
    menu, inbox = viewer.site.menus.get(code), viewer.site.inbox
    if menu is None and inbox is not None and inbox.name == code and viewer.may(inbox.list):
        title = viewer.say(viewer.site.title_of(inbox))
        return _with_tabs(title, [(title, [listing(viewer, inbox)]), *_own_tabs(viewer, [inbox.collection])])
    if menu is None:
        return home_page(viewer) if code == HOME else None
    title = viewer.say(menu.title)
    if menu.resource == DASHBOARDS:
        return dashboards_page(viewer, title)
    declared = viewer.site.of_menu(menu)
    shown = [subject for subject in declared if viewer.may(subject.list)]
    if not shown:
        found = [*reports(viewer, menu)] if not declared else []
        word = "no_right" if declared or viewer.site.reports_of(menu) else "no_page"
        return _with_tabs(title, found) if found else page(title, node("alert", level="info", body=viewer.word(word)))
    named: list[tuple[str, list[Node]]] = []
    for one in shown:
        named += [*boxes(viewer, one)] or [(viewer.say(viewer.site.title_of(one)), [listing(viewer, one)])]
        named += months(viewer, one)
    named += _own_tabs(viewer, [subject.collection for subject in shown])
    return _with_tabs(title, named)


def _own_tabs(viewer: Viewer, collections: Sequence[Collection | None]) -> Iterator[tuple[str, list[Node]]]:
    """Yield the tabs that the views of these collections add, except those that the viewer may not load."""
    found = [view for one in collections if (view := viewer.site.view_of(one)) is not None]
    for view in {view.collection.name: view for view in found}.values():
        for heading, part in view.tabs.items():
            if viewer.may_request(part):
                yield viewer.say(Message(*heading)), [{name: viewer.said(one) for name, one in part.items()}]


def _with_tabs(title: str, named: Sequence[tuple[str, list[Node]]]) -> Node:
    return page(title, *named[0][1]) if len(named) == 1 else page(title, tabs(*named))


def _record_page(viewer: Viewer, name: str) -> Node | None:
    subject = viewer.site.subjects.get(name)
    return record_page(viewer, subject) if subject is not None else None


def new_record(viewer: Viewer, name: str) -> Node | None:
    """Return the button that makes a record of a list, with its form, or None if the viewer may not make one."""
    subject = viewer.site.subjects.get(name)
    return next(create_button(viewer, subject, {}), None) if subject is not None else None


def rows_asked(viewer: Viewer, name: str) -> Node | None:
    """Return the rows of a list that `query` selects, or None if the viewer may not see the list."""
    subject = viewer.site.subjects.get(name)
    return chosen_rows(viewer, subject) if subject is not None and viewer.may(subject.list) else None


def _page_route(name: str, make: Callable[[Viewer, str], Node | None], summary: str) -> Route:
    async def read(req: Request) -> Node:
        return await req.part(Pages).page(req, make)

    refused = (Refusal(NOT_FOUND, hint=_NO_PAGE),)
    return route(
        name, read, summary=summary, access=SIGNED_IN, returns=_PAGE, refusals=refused, etag=True, tag="console"
    )


ROUTES: tuple[Route, ...] = (
    _page_route("GET /api/v1/console/pages/{menu}", menu_page, "The page of a menu"),
    _page_route("GET /api/v1/console/records/{list}", _record_page, "The page of the records of a list"),
    _page_route("GET /api/v1/console/panels/{list}", panel, "What is shown of a record of a list beside another page"),
    _page_route(
        "GET /api/v1/console/forms/{list}", new_record, "The button that makes a record of a list, with its form"
    ),
    _page_route("GET /api/v1/console/rows/{list}", rows_asked, "The rows of a list that a count leads to"),
)
