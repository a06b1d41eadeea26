"""Controls for administrators: the request of a page or an action, chosen by its titles."""

from collections.abc import Iterator

from plugins.api import Menu, Route
from plugins.console.forms import choices
from plugins.console.nodes import Node
from plugins.console.viewer import Viewer

REQUEST = ("method", "path")  # parameters that name a request together
CHOSEN = {"method": "${SPLIT(request, ' ')[0]}", "path": "${SPLIT(request, ' ')[1]}"}


def request_picker(viewer: Viewer) -> Node:
    """Return a control that chooses a request by its page and what is done there. `CHOSEN` sends what was chosen."""
    label = f"{viewer.word('page')} / {viewer.word('actions')}"
    labels = choices(dict(_requests(viewer)))
    return {**labels, "name": "request", "label": label, "required": True, "searchable": True, "size": "lg"}


def _requests(viewer: Viewer) -> Iterator[tuple[str, str]]:
    """Yield a request for each permission with its title, in the order of the menus."""
    menus = viewer.site.menus
    groups = {code: menus.get(menu.parent) for code, menu in menus.items()}
    order = {code: (group.order if group is not None else menus[code].order) for code, group in groups.items()}
    for menu in sorted(menus.values(), key=lambda one: (order[one.code], one.parent, one.order)):
        routes = [one for one in viewer.site.catalogue.routes if _allows(menu, one)]
        # one request for each permission, as they are allowed together
        for one in {one.access: one for one in reversed(routes)}.values():
            done = viewer.say(viewer.site.catalogue.permission_title(one.access))
            yield one.name, f"{viewer.menu_title(menu)} › {done}"


def _allows(menu: Menu, route: Route) -> bool:
    return bool(menu.resource) and route.access.rpartition(":")[0] == menu.resource and not route.socket
