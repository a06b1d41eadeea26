"""What the frame around the pages needs to know: the inbox, the desk, and where records are, for the person who asks."""

from plugins.api import SIGNED_IN, Request, array, obj, route, shape, text
from plugins.console.pages import Pages
from plugins.console.site import Subject
from plugins.console.viewer import Viewer

_SEARCH = "/api/v1/meta/search"


async def read_frame(req: Request) -> dict[str, object]:
    """Return the places of the console that the caller may open."""
    viewer = await req.part(Pages).viewer(req)
    inbox, desk = viewer.site.inbox, viewer.site.desk
    shown = [one for one in viewer.site.subjects.values() if not one.nested and viewer.may(one.read)]
    return {
        "inbox": inbox.at if inbox is not None and viewer.may(inbox.list) else "",
        "desk": viewer.site.menu_of(desk) if desk is not None and viewer.may(desk.list) else "",
        "search": _SEARCH if viewer.site.called("GET", _SEARCH) is not None else "",
        "lists": [{"name": one.name, "menu": viewer.site.menu_of(one), "paths": _paths(viewer, one)} for one in shown],
    }


def _paths(viewer: Viewer, subject: Subject) -> list[str]:
    """Return the paths by which links name the records of a list: that of the API, and that of its menu."""
    menu = viewer.site.menus.get(viewer.site.menu_of(subject))
    first = menu is not None and viewer.site.records_of(viewer.site.of_menu(menu)[0]) is subject
    of_menu = [menu.path] if menu is not None and menu.path and first else []
    return [*dict.fromkeys([subject.at.removeprefix("/api").removeprefix("/v1"), *of_menu])]


_LIST = obj(
    None,
    {
        "name": text(nullable=False, description="The name of the list in addresses: `#/records/<name>/<id>`."),
        "menu": text(nullable=False, description="The code of its menu; empty if it is in none."),
        "paths": array(
            text(nullable=False), nullable=False, description="What a link to one of its records begins with."
        ),
    },
    nullable=False,
)
_FRAME = shape(
    "ConsoleFrame",
    inbox=text(nullable=False, description="The path of the inbox, a list with a WebSocket; empty without one."),
    desk=text(nullable=False, description="The code of the menu of what waits for the person; empty without one."),
    search=text(nullable=False, description="The path of the search over records; empty without one."),
    lists=array(_LIST, max_items=1000, nullable=False),
)
_AT, _SUMMARY = "GET /api/v1/console/shell", "Read what the console's frame shows"
ROUTES = (route(_AT, read_frame, summary=_SUMMARY, access=SIGNED_IN, returns=_FRAME, tag="console"),)
