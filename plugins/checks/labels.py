"""Checks that people can read what a plugin declares: labels of fields and titles of permissions, in both languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import groupby

from handlers.catalogue.declarations import ACTION_TITLES
from handlers.data.collection import Collection
from handlers.route import PERMISSION
from handlers.schema.fields import Field
from plugins.plugin import Plugin

_EXAMPLE = 'label=("客户名称", "Customer name")'


def label_problems(where: str, collection: Collection) -> Iterator[str]:
    """Yield a sentence for each kind of missing text, and for each label that several fields share."""
    if not collection.noun.zh or not collection.noun.en:
        yield f'{where} has no noun in Chinese and English, such as noun=Message("客户", "customer").'
    lacking: dict[str, list[str]] = {}
    for path, fields in _levels("", collection.fields):
        for name, field in fields.items():
            if missing := _missing(field):
                lacking.setdefault(missing, []).append(f"{path}{name}")
    for missing, names in lacking.items():
        yield f"{where} has no {missing} for {', '.join(names)}; a field takes {_EXAMPLE}."
    for path, fields in _levels("", collection.all_fields):
        yield from (f"{where}: {pair} have the same label {label}." for pair, label in _repeated(path, fields))


def _levels(path: str, fields: Mapping[str, Field]) -> Iterator[tuple[str, Mapping[str, Field]]]:
    """Yield the fields of a record, and those of each object within it, with the path of the object."""
    yield path, fields
    for name, field in fields.items():
        inner, place = field, f"{path}{name}"
        while inner.kind == "array" and inner.items is not None:
            inner, place = inner.items, f"{place}[]"
        if inner.fields:
            yield from _levels(f"{place}.", inner.fields)


def _missing(field: Field) -> str:
    if field.label is None:
        return "label"
    return "" if all(field.label) else "English label" if field.label.zh else "Chinese label"


def _repeated(path: str, fields: Mapping[str, Field]) -> Iterator[tuple[str, str]]:
    labels = [
        (label, f"{path}{name}") for name, field in fields.items() if field.label for label in {*field.label} if label
    ]
    for label, alike in groupby(sorted(labels), key=lambda pair: pair[0]):
        if len(names := [name for _, name in alike]) > 1:
            yield " and ".join(names), label


def title_problems(plugin: Plugin, accesses: Set[str], titled: Set[str]) -> Iterator[str]:
    """Yield a sentence for each permission without a title, and each title of a permission that no route needs."""
    for code in sorted(plugin.permissions.keys() - accesses):
        yield f"Plugin {plugin.name}: permissions has a title for {code}, which no route needs."
    for code in dict.fromkeys(route.access for route in plugin.routes if PERMISSION.match(route.access or "")):
        if code not in titled and code.rpartition(":")[2] not in ACTION_TITLES:
            yield (
                f"Plugin {plugin.name}: the permission {code} has no title, which its button shows: "
                f'add {{"{code}": Message(…)}} to permissions.'
            )
