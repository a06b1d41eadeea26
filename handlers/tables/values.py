"""The values of columns that people know by a label: states, fixed choices and entries of dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from handlers.catalogue.declarations import Catalogue
from handlers.catalogue.dictionaries import Dictionaries, Entries
from handlers.schema.fields import Field
from handlers.schema.messages import Language, Message
from handlers.service import Service
from handlers.tables.columns import Columns, TableColumn

Labels = Mapping[str, Message]
Value = TypeVar("Value")


class ValueLabels:
    """The labels of the values of each column that has some, as they are now."""

    def __init__(self, labels: Mapping[str, Labels]) -> None:
        self._labels = labels
        self._values = {name: _values_by_text(known) for name, known in labels.items()}

    @classmethod
    async def load(cls, service: Service, columns: Columns) -> ValueLabels:
        """Load the labels, with those of dictionaries that administrators edited."""
        catalogue, entries = service.part(Catalogue), await service.part(Dictionaries).current()
        found = {column.name: labels_of(catalogue, entries, column.field) for column in columns.all}
        return cls({name: labels for name, labels in found.items() if labels})

    def choices(self, column: TableColumn, language: Language | None) -> list[str]:
        """Return the texts that a cell of this column offers."""
        labels = self._labels.get(column.name)
        if labels and language is not None:
            return [self.text(column, value, language) for value in labels]
        return list(labels or column.field.rules.get("enum") or ())

    def text(self, column: TableColumn, value: Value, language: Language) -> Value | str:
        """Return the label of a value, or the value itself if it has no label or shares it with another value."""
        label = self._labels.get(column.name, {}).get(value) if isinstance(value, str) else None
        if label is None:
            return value
        text = label.text(language)
        return text if self._values[column.name].get(text.casefold()) == value else value

    def value(self, column: TableColumn, text: Value) -> Value | str:
        """Return the value of a cell: the text if it is a value, else the value with this label in either language."""
        known = self._labels.get(column.name)
        if not known or not isinstance(text, str) or text in known:
            return text
        return self._values[column.name].get(text.strip().casefold(), text)


def _values_by_text(labels: Labels) -> dict[str, str]:
    """Return values by label, without labels that several values share, and those that are another value."""
    found: dict[str, str] = {}
    several: set[str] = set()
    for value, label in labels.items():
        for text in {one.casefold() for one in label}:
            if found.setdefault(text, value) != value or (text in labels and text != value):
                several.add(text)
    return {text: value for text, value in found.items() if text not in several}


def labels_of(catalogue: Catalogue, entries: Entries, field: Field) -> Labels:
    """Return the labels of a field's values: its own, its dictionary's, or those of what declares its fixed values."""
    if field.labels is not None:
        return field.labels(catalogue)
    if type := field.dictionary or field.labelled_by:
        return {value: entry.label for value, entry in entries.get(type, {}).items()}
    values = field.rules.get("enum")
    return next(_with_values(catalogue, set(values)), {}) if values else {}


def _with_values(catalogue: Catalogue, values: set[str]) -> Iterator[Labels]:
    """Yield the labels of these values in state machines and dictionaries with just these, then in those with more."""
    for machine in catalogue.state_machines:
        if set(machine.states) == values:
            yield machine.states
    for dictionary in catalogue.dictionaries:
        if {item.value for item in dictionary.items} == values:
            yield {item.value: item.label for item in dictionary.items}
    for known in (*(one.states for one in catalogue.state_machines), *_labels_in(catalogue)):
        if values < set(known):
            yield {value: label for value, label in known.items() if value in values}


def _labels_in(catalogue: Catalogue) -> Iterator[Labels]:
    for dictionary in catalogue.dictionaries:
        yield {item.value: item.label for item in dictionary.items}
