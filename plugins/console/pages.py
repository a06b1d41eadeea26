"""Makes the page of a menu, and the page of a record, for one person; what two people share is made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from cachetools import LRUCache

from plugins.api import NOT_FOUND, ApiError, Catalogue, Dictionaries, Entries, Request
from plugins.console.dashboards import dashboards_page
from plugins.console.lists import listing
from plugins.console.nodes import Node, notice, page, tabs
from plugins.console.own import own_tabs
from plugins.console.records import record_page
from plugins.console.reports import reports
from plugins.console.site import DASHBOARDS, Site
from plugins.console.viewer import Viewer, view

_KEPT = 64


class Pages:
    """The pages of one process. The few that were asked for last are kept."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.site = Site(catalogue)
        self._made: LRUCache[Hashable, tuple[Entries, Node | None]] = LRUCache(_KEPT)

    async def of_menu(self, req: Request) -> Node:
        """The page of a menu for the caller. Raises 40400 for a menu that no plugin declares."""
        return await self._page(req, "menu", req.path["menu"], menu_page)

    async def of_record(self, req: Request) -> Node:
        """The page of the records of a list for the caller. Raises 40400 where they may read none, or there is none."""
        return await self._page(req, "record", req.path["list"], _record_page)

    async def _page(self, req: Request, kind: str, name: str, make: Callable[[Viewer, str], Node | None]) -> Node:
        entries = await req.part(Dictionaries).current()
        viewer = await view(req, self.site, entries)
        key = (kind, name, viewer.language, viewer.allowed)
        known, made = self._made.get(key, (None, None))
        if known is not entries:  # the first time, or a dictionary has changed
            made = make(viewer, name)
            self._made[key] = entries, made
        if made is None:
            raise ApiError(NOT_FOUND)
        return made


def menu_page(viewer: Viewer, code: str) -> Node | None:
    """The page of a menu; None for one that no plugin declares."""
    menu = viewer.site.menus.get(code)
    if menu is None:
        return None
    title = viewer.say(menu.title)
    if menu.resource == DASHBOARDS:
        return dashboards_page(viewer, title)
    declared = viewer.site.of_menu(menu)
    shown = [subject for subject in declared if viewer.may(subject.list)]
    if not shown:
        found = [*reports(viewer, menu)] if not declared else []
        word = "no_right" if declared or viewer.site.reports_of(menu) else "no_page"
        return _with_tabs(title, found) if found else page(title, notice(viewer.word(word)))
    named = [(viewer.say(viewer.site.title_of(subject)), [listing(viewer, subject)]) for subject in shown]
    named += own_tabs(viewer, [subject.collection for subject in shown])
    return _with_tabs(title, named)


def _with_tabs(title: str, named: Sequence[tuple[str, list[Node]]]) -> Node:
    return page(title, *named[0][1]) if len(named) == 1 else page(title, tabs(*named))


def _record_page(viewer: Viewer, name: str) -> Node | None:
    subject = viewer.site.subjects.get(name)
    return record_page(viewer, subject) if subject is not None else None
