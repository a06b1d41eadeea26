"""What a paper says: the values of a record as people read them, with their labels."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict
from zoneinfo import ZoneInfo

import orjson

from plugins.api import Field, Message, Request, exact
from plugins.api.fields import NOTHING
from plugins.api.records import Catalogue, Dictionaries, Entries
from plugins.api.reports import Printable
from plugins.api.requests import name_references, project
from plugins.api.spreadsheets import labels_of
from plugins.api.values import Language, ReadOnlyRecord

_NUMERIC = ("money", "quantity", "integer", "number")
_YES, _NO = Message("是", "Yes"), Message("否", "No")
_DRAFT = Message("{title}（草稿）", "{title} (draft)")  # of what gets its number later
_BETWEEN: Mapping[Language, tuple[str, str]] = {"zh": ("，", "；"), "en": (", ", "; ")}  # fields, and objects
_DIGEST_CHARACTERS = 24
_CENT = Decimal("0.01")
_STATED_IN = "stated_in"


class Named(TypedDict):
    """A field of a paper: its name, its label, and its value as text."""

    name: str
    label: str
    value: str


class Column(TypedDict):
    """A column of its lines."""

    name: str
    label: str
    numeric: bool


class Further(TypedDict):
    """A table below the lines."""

    title: str
    columns: list[Column]
    rows: list[dict[str, str]]


class Content(TypedDict):
    """What templates get of a record as `paper`; `values` are all of its fields, `rows` all fields of its lines."""

    kind: str
    language: Language
    title: str
    number: str
    letter: str
    party: list[Named]
    facts: list[Named]
    columns: list[Column]
    rows: list[dict[str, str]]
    tables: list[Further]
    totals: list[Named]
    notes: list[Named]
    signed_by: list[str]
    values: dict[str, str]


@dataclass(frozen=True)
class _Words:
    """How values are written: in a language, with the labels of now, in the business time zone."""

    catalogue: Catalogue
    entries: Entries
    language: Language
    zone: ZoneInfo

    def write(self, field: Field, value: Any) -> str:
        """Return a value as text; nothing for null and for what has parts, but for a list of objects."""
        if value is not None and field.items is not None and field.items.kind == "object":
            return _BETWEEN[self.language][1].join(self._describe(field.items, one) for one in value)
        if value is None or field.kind in ("object", "array", "mapping", "any"):
            return ""
        if isinstance(value, bool):
            return (_YES if value else _NO).text(self.language)
        if field.kind in ("money", "quantity"):
            return _write_amount(field, exact(value))
        if isinstance(value, datetime):
            return f"{value.astimezone(self.zone):%Y-%m-%d %H:%M}"
        labels = labels_of(self.catalogue, self.entries, field) if field.kind == "text" else {}
        return labels[value].text(self.language) if value in labels else str(value)

    def _describe(self, shape: Field, value: ReadOnlyRecord) -> str:
        """Return an object as its fields that are filled, each behind its label."""
        labels = {name: field.label for name, field in (shape.fields or {}).items() if field.label is not None}
        texts = {name: text for name, text in self.texts(shape, value).items() if text and name in labels}
        return _BETWEEN[self.language][0].join(f"{labels[name].text(self.language)} {texts[name]}" for name in texts)

    def texts(self, shape: Field, value: ReadOnlyRecord) -> dict[str, str]:
        """Return the text of each field of an object; of a reference, the name beside it."""
        names = {one.beside: one.name for one in shape.siblings if not one.many}
        return {
            name: str(value.get(names[name]) or "") if name in names else self.write(field, value.get(name))
            for name, field in (shape.fields or {}).items()
            if not field.write_only
        }


def _write_amount(field: Field, amount: Decimal) -> str:
    """Return `1,234.50` for money, `1,234.5` for a quantity or price, and `13%` for a share."""
    rules = field.rules
    if field.kind == "quantity" and rules.get("minimum") == "0" and rules.get("maximum") == "1":
        return f"{(amount * 100).normalize():f}%"
    if field.kind == "money" and amount == amount.quantize(_CENT):
        return f"{amount:,.2f}"
    return f"{amount.normalize():,f}"


async def content_of(req: Request, printable: Printable, record: ReadOnlyRecord, language: Language) -> Content:
    """Return what the paper of a record says, in a language."""
    shape = printable.printed
    shown: dict[str, Any] = project(shape, record)
    await name_references(replace(req, language=language, names={}), shape, [shown])
    entries = await req.part(Dictionaries).current()
    words = _Words(req.part(Catalogue), entries, language, req.service.settings.zone)
    lists = {
        name: [words.texts(line, row) for row in shown.get(name) or ()] for name, line in _lists_of(printable).items()
    }
    values = words.texts(shape, {**shown, **dict.fromkeys(lists)})
    return _fill(printable, language, values, lists)


def example_of(printable: Printable, language: Language) -> Content:
    """Return a paper with examples in the place of values, to try a template with."""

    def filled(shape: Field) -> dict[str, str]:
        return {name: str(field.example or "100.00") for name, field in (shape.fields or {}).items()}

    lists = {name: [filled(line)] * 2 for name, line in _lists_of(printable).items()}
    return _fill(printable, language, filled(printable.printed), lists)


def _fill(
    printable: Printable, language: Language, values: dict[str, str], lists: Mapping[str, list[dict[str, str]]]
) -> Content:
    fields, inside = printable.printed.fields or {}, _lists_of(printable)

    def label(name: str, field: Field) -> str:
        return field.label.text(language) if field.label is not None else name

    def named(names: Iterable[str]) -> list[Named]:
        return [{"name": one, "label": label(one, fields[one]), "value": values[one]} for one in names]

    def columns(rows: str, names: Iterable[str]) -> list[Column]:
        of = inside[rows].fields or {} if rows else {}
        return [{"name": one, "label": label(one, of[one]), "numeric": of[one].kind in _NUMERIC} for one in names]

    letter = printable.foreign_letter if values.get(_STATED_IN) and printable.foreign_letter else printable.letter
    title, number = printable.title.text(language), values.get(printable.number, "")
    return {
        "kind": printable.name,
        "language": language,
        "title": _DRAFT.text(language, title=title) if printable.number and not number else title,
        "number": number,
        "letter": letter.text(language, **values) if letter is not None else "",
        "party": named(printable.party),
        "facts": named(printable.facts),
        "columns": columns(printable.lines, printable.columns),
        "rows": lists.get(printable.lines, []),
        "tables": [
            {"title": title.text(language), "columns": columns(rows, names), "rows": lists[rows]}
            for title, rows, names in printable.tables
        ],
        "totals": named(printable.totals),
        "notes": named(printable.notes),
        "signed_by": [one.text(language) for one in printable.signed_by],
        "values": values,
    }


def _lists_of(printable: Printable) -> Mapping[str, Field]:
    """Return the lists of a paper by name: of its lines and of the rows of its tables, with the shape of one of them."""
    names, fields = (printable.lines, *(rows for _, rows, _ in printable.tables)), printable.printed.fields or {}
    return {name: fields[name].items or NOTHING for name in names if name}


def digest_of(content: Content) -> str:
    """Return the digest of what the declaration prints; other fields, such as what is paid, do not count."""
    said = [[one["name"], one["value"]] for part in ("party", "facts", "totals", "notes") for one in content[part]]
    for table in (content, *content["tables"]):
        said += [[row[column["name"]] for column in table["columns"]] for row in table["rows"]]
    return hashlib.sha256(orjson.dumps([content["number"], said])).hexdigest()[:_DIGEST_CHARACTERS]
