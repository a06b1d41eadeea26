"""Checks of views: that they name fields of declared collections, each in one group, with headings in two languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from handlers.data.collection import Collection
from plugins.plugin import Plugin


def view_problems(plugin: Plugin, known: Sequence[Collection]) -> Iterator[str]:
    """Yield a sentence for each fault in the views of a plugin."""
    for view in plugin.views:
        where = f"Plugin {plugin.name}: view of {view.collection.name}"
        if view.collection not in known:
            yield f"{where}, a collection that no loaded plugin declares."
        grouped = Counter(name for names in view.groups.values() for name in names)
        for name in sorted({*view.columns, *grouped, *view.widgets} - view.collection.all_fields.keys()):
            yield f"{where} names {name}, which is no field of it."
        for name in sorted(name for name, times in grouped.items() if times > 1):
            yield f"{where} has {name} in two groups."
        for heading in (*view.groups, *view.tabs):
            if not all(heading):
                given = " ".join(heading).strip() or "none"
                yield f"{where} has a heading that is not in Chinese and English: {given}."
