"""Writes `record_types.py` of a plugin: a `TypedDict` for each of its collections, so that type checkers know the fields.

A type says what a store returns. All declared fields are there, null if a stored record lacks them. A field that need not
be there is `NotRequired`: of an inner object, or one that the collection only stores (`internal`), whose type is not known.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from keyword import iskeyword
from pathlib import Path

from handlers.data.collection import Collection
from handlers.schema.fields import Field, Kind
from plugins.boot.registry import GROUP, built_in_names
from plugins.plugin import Plugin

FILE = "record_types.py"
_HEAD = '''\
"""The types of the records of {title}. Generated from its collections by `{command}`: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from plugins.api.values import StoredAmount, StoredId
'''
_TYPES: Mapping[Kind, str] = {
    "text": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "money": "StoredAmount",
    "quantity": "StoredAmount",
    "timestamp": "datetime",
    "day": "str",
    "object_id": "StoredId",
}  # never `Any`: mypy could then not tell which overload of `store` is meant


def typed_records(plugins: Iterable[Plugin], command: str) -> dict[Path, str]:
    """Return the text of `record_types.py` of each of these plugins that has collections, by its path.

    `command` renews them, as their first line says.
    """
    return {
        _folder_of(plugin) / FILE: render(plugin.title.en, plugin.collections, command)
        for plugin in plugins
        if plugin.collections
    }


def _folder_of(plugin: Plugin) -> Path:
    external = {point.name: point.module for point in entry_points(group=GROUP)}
    module = f"plugins.{plugin.name}.plugin" if plugin.name in built_in_names() else external[plugin.name]
    return Path(sys.modules[module].__file__ or "").parent


def render(title: str, collections: Iterable[Collection], command: str) -> str:
    """Return a module with the types of the records of these collections."""
    types = _Types()
    for collection in collections:
        types.add(collection)
    return "\n\n".join((_HEAD.format(title=title, command=command), *types.texts.values()))


class _Types:
    """The texts of the types by name; those of inner objects come before those that hold them."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._fields: dict[str, Mapping[str, str]] = {}

    def add(self, collection: Collection) -> None:
        """Add the type of the records of a collection."""
        fields = {
            name: self._type_of(child, f"{_identifier(collection.title)}_{name}", absent=child.write_only)
            for name, child in collection.all_fields.items()
        }
        stored = dict.fromkeys(collection.internal, "object")
        if not collection.plain:
            stored |= {"deleted": "bool", "deleted_at": "datetime"}
        if collection.shared:
            stored["shared_with"] = "list[int]"
        further = {name: f"NotRequired[{one}]" for name, one in stored.items() if name not in fields}
        self._add(_identifier(collection.title), f"A record of `{collection.name}`.", fields | further)

    def _type_of(self, field: Field, place: str, *, absent: bool = False) -> str:
        one = self._kind_of(field, place)
        if field.nullable and one != "object":
            one += " | None"
        return f"NotRequired[{one}]" if absent else one

    def _kind_of(self, field: Field, place: str) -> str:
        if "enum" in field.rules:
            return f"Literal[{', '.join(map(_quoted, field.rules['enum']))}]"
        if field.kind == "object":
            return self._object(field, place)
        inner = self._type_of(field.items, place) if field.items is not None else "object"
        if field.kind == "array":
            return f"list[{inner}]"
        return f"dict[str, {inner}]" if field.kind == "mapping" else _TYPES.get(field.kind, "object")

    def _object(self, field: Field, place: str) -> str:
        fields = {
            name: self._type_of(child, f"{place}_{name}", absent=child.nullable)
            for name, child in (field.fields or {}).items()
        }
        by_place = "".join(part[:1].upper() + part[1:] for part in place.split("_"))
        name = _identifier(field.title or by_place)
        # records may share a shape; another one of the same name is called by its place
        name = name if self._fields.get(name, fields) == fields else by_place
        self._add(name, f"An object within `{place.partition('_')[0]}`.", fields)
        return name

    def _add(self, name: str, about: str, fields: Mapping[str, str]) -> None:
        if name in self._fields:
            return
        self._fields[name] = fields
        if any(map(iskeyword, fields)):  # no name of an attribute
            lines = "".join(f"        {_quoted(field)}: {_quoted(one)},\n" for field, one in fields.items())
            self.texts[name] = f"{name} = TypedDict(\n    {_quoted(name)},\n    {{\n{lines}    }},\n)\n"
        else:
            lines = "".join(f"    {field}: {one}\n" for field, one in fields.items())
            self.texts[name] = f'class {name}(TypedDict):\n    """{about}"""\n\n{lines}'


def _identifier(title: str) -> str:
    return re.sub(r"\W", "", title)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
