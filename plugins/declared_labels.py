"""Checks that people can read what a plugin declares: labels of the fields of its records, in both languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from handlers.data.collection import Collection
from handlers.schema.fields import Field

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
