"""Dictionaries as of now: those that plugins declare, with what administrators made of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from handlers.schema.errors import FieldError
from handlers.schema.fields import Field
from handlers.schema.messages import Language, Message
from handlers.schema.validation import bound_values, field_path
from handlers.schema.values import Json, ReadOnlyRecord

NOT_LISTED = "dictionary"  # the rule that a value breaks


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a dictionary: its label, a colour for tags, and whether new values may be this one."""

    label: Message
    color: str = ""
    enabled: bool = True


Entries = Mapping[str, Mapping[str, Entry]]  # by the type of the dictionary and by value, in the order of display


class Dictionaries:
    """The entries of all dictionaries, a snapshot in memory. The plugin that stores them says where it is read from."""

    def __init__(self, declared: Entries) -> None:
        self._declared = self._latest = declared
        self._stored: Entries | None = None
        self._read: Callable[[], Awaitable[Entries]] | None = None

    def read_from(self, read: Callable[[], Awaitable[Entries]]) -> None:
        """Take the entries from `read`, which returns the same object until one changes, instead of declarations."""
        self._read = read

    async def current(self) -> Entries:
        """Return the entries, no older than the last change that this process knows of."""
        if self._read is not None:
            stored = await self._read()
            if stored is not self._stored:
                self._stored, self._latest = stored, {**self._declared, **stored}
        return self._latest

    def faults(self, shape: Field, given: Json, standing: ReadOnlyRecord | None) -> Iterator[FieldError]:
        """The faults of a body whose values are not enabled in their dictionaries, by the last `current`.

        `standing` is the stored record that the body changes: what it has at the same place may stay.
        """
        for place, field, value in bound_values(shape, given):
            entry = self._latest.get(field.dictionary or "", {}).get(value) if isinstance(value, str) else None
            if isinstance(value, str) and not (entry and entry.enabled) and value not in _stored_at(standing, place):
                yield FieldError(field_path(place), NOT_LISTED)

    async def has(self, field: Field, value: object) -> bool:
        """Return whether a value, enabled or not, is in the dictionary of a field."""
        return value in (await self.current()).get(field.dictionary or "", {})

    async def label(self, field: Field, value: str, language: Language) -> str:
        """Return the label of a value of a field, or the value itself where its dictionary has none."""
        entry = (await self.current()).get(field.dictionary or "", {}).get(value)
        return entry.label.text(language) if entry else value


def _stored_at(standing: ReadOnlyRecord | None, place: Sequence[str | int]) -> Iterable[object]:
    """The values of a record at a place of a body, whatever their position in lists."""
    found: list[object] = [standing]
    for name in (part for part in place if isinstance(part, str)):
        found = [one.get(name) for value in found for one in _each(value) if isinstance(one, Mapping)]
    return [one for value in found for one in _each(value)]


def _each(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]
