"""How pages show the records of a collection where that does not follow from the fields themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from handlers.data.collection import Collection

Parts = Mapping[str, object]  # of a page description, as the renderer takes it


@dataclass(frozen=True)
class View:
    """How pages show the records of a collection. Headings are pairs of Chinese and English.

    `columns`: what a list shows at first, in this order; the other columns are there to be switched on.
    `groups`: the fields of forms and of the details of a record below their headings; the others come behind them.
    `widgets`: what the control of a field is or has in place of what its declaration makes.
    `tabs`: pages of its own beside the list. A `Message` in it is shown in the language of the reader; a part with a
    request (`api`, `initApi`, `source`: method and url) that the reader may not send is left out.
    `boxes`: the parameter of lists by whose values they are divided, such as what waits for the reader and what they
    asked for: each value is a tab, and a record opens beside its list.
    """

    collection: Collection
    columns: tuple[str, ...] = ()
    groups: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    widgets: Mapping[str, Parts] = field(default_factory=dict)
    tabs: Mapping[tuple[str, str], Parts] = field(default_factory=dict)
    boxes: str = ""
