"""Parts of pages that plugins wrote themselves, for the person who reads them."""

from collections.abc import Iterator, Mapping, Sequence

from plugins.api import Collection, Message
from plugins.console.nodes import Node
from plugins.console.viewer import Viewer

_REQUESTS = ("api", "initApi", "source")


def own_tabs(viewer: Viewer, collections: Sequence[Collection | None]) -> Iterator[tuple[str, list[Node]]]:
    """The tabs that views of these collections add, but for those of which nothing is left for the viewer."""
    found = [view for one in collections if (view := viewer.site.view_of(one)) is not None]
    for view in {view.collection.name: view for view in found}.values():
        for heading, part in view.tabs.items():
            if _permitted(viewer, part):
                yield viewer.say(Message(*heading)), [{name: _said(viewer, one) for name, one in part.items()}]


def _permitted(viewer: Viewer, part: Mapping[str, object]) -> bool:
    """Whether the viewer may send every request that the part itself makes."""
    requests = [one for name in _REQUESTS if isinstance(one := part.get(name), Mapping)]
    return all(viewer.may(viewer.site.called(str(one["method"]), str(one["url"]))) for one in requests)


def _said(viewer: Viewer, part: object) -> object:
    if isinstance(part, Message):
        return viewer.say(part)
    if isinstance(part, Mapping):
        return {name: _said(viewer, one) for name, one in part.items()}
    if isinstance(part, (list, tuple)):
        kept = (one for one in part if not isinstance(one, Mapping) or _permitted(viewer, one))
        return [_said(viewer, one) for one in kept]
    return part
