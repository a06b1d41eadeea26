"""Dictionaries as they are now: those that plugins declare, with the changes of administrators."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from handlers.schema.errors import FieldError
from handlers.schema.fields import Field
from handlers.schema.messages import Language, Message
from handlers.schema.validation import bound_values, field_path
from handlers.schema.values import Json, ReadOnlyRecord

NOT_LISTED = "dictionary"  # the rule broken by a value that is no enabled entry of its dictionary


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a dictionary: its label, a colour for tags, and whether new values may use it."""

    label: Message
    color: str = ""
    enabled: bool = True


Entries = Mapping[str, Mapping[str, Entry]]  # by dictionary type, then by value in the order of display


class Dictionaries:
    """The entries of all dictionaries, a snapshot in memory. The plugin that stores dictionaries calls `read_from`."""

    def __init__(self, declared: Entries) -> None:
        self._declared = self._latest = declared
        self._stored: Entries | None = None
        self._read: Callable[[], Awaitable[Entries]] | None = None

    def read_from(self, read: Callable[[], Awaitable[Entries]]) -> None:
        """Let the entries from `read` replace declared ones; it must return the same object until an entry changes."""
        self._read = read

    async def current(self) -> Entries:
        """Return the entries, no older than the last change that this process knows of."""
        if self._read is not None:
            stored = await self._read()
            if stored is not self._stored:
                self._stored, self._latest = stored, {**self._declared, **stored}
        return self._latest

    def faults(self, shape: Field, given: Json, standing: ReadOnlyRecord | None) -> Iterator[FieldError]:
        """Yield a fault for each value of a body that its dictionary, as of the last `current`, does not enable.

        `standing` is the stored record that the body changes: a value that it has in the same place is accepted.
        """
        for place, field, value in bound_values(shape, given):
            entry = self._latest.get(field.dictionary or "", {}).get(value) if isinstance(value, str) else None
            if isinstance(value, str) and not (entry and entry.enabled) and value not in _stored_at(standing, place):
                yield FieldError(field_path(place), NOT_LISTED)

    async def has(self, field: Field, value: object) -> bool:
        """Return whether a value, enabled or not, is in the dictionary of a field."""
        return value in (await self.current()).get(field.dictionary or "", {})

    async def label(self, field: Field, value: str, language: Language) -> str:
        """Return the label of a value of a field, or the value itself if its dictionary has no such entry."""
        entry = (await self.current()).get(field.dictionary or "", {}).get(value)
        return entry.label.text(language) if entry else value


def _stored_at(standing: ReadOnlyRecord | None, place: Sequence[str | int]) -> Iterable[object]:
    """Return the values of a record at a place of a body, from every position of the lists on the way."""
    found: list[object] = [standing]
    for name in (part for part in place if isinstance(part, str)):
        found = [one.get(name) for value in found for one in _each(value) if isinstance(one, Mapping)]
    return [one for value in found for one in _each(value)]


def _each(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]
