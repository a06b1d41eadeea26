"""How pages show the records of a collection where that does not follow from the fields themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from handlers.data.collection import Collection

Parts = Mapping[str, object]  # of a page description, in the form that the renderer expects


@dataclass(frozen=True)
class View:
    """How pages show the records of a collection. Headings are pairs of Chinese and English.

    `columns`: the columns that a list shows at first, in this order; readers can switch the others on.
    `groups`: by heading, the fields of forms and of the details of a record below it; the other fields come after them.
    `widgets`: by field, the parts of its control that replace those derived from its declaration.
    `tabs`: by heading, further pages beside the list. A `Message` in one is shown in the language of the reader; a part
    with a request (`api`, `initApi`, `source`: method and url) that the reader may not send is left out.
    `boxes`: the query parameter whose values divide the list, for example into what waits for the reader and what they
    asked for: each value becomes a tab, and a record opens beside its list.
    `due`: the day or moment by which a record is due, for the lists that can be filtered and sorted by it; the first page
    of the readers shows what is due soon, `due_only` are the parameters that select what is still open.
    """

    collection: Collection
    columns: tuple[str, ...] = ()
    groups: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    widgets: Mapping[str, Parts] = field(default_factory=dict)
    tabs: Mapping[tuple[str, str], Parts] = field(default_factory=dict)
    boxes: str = ""
    due: str = ""
    due_only: Mapping[str, str] = field(default_factory=dict)
