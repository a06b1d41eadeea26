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
_BETWEEN: Mapping[Language, tuple[str, str]] = {"zh": ("，", "；"), "en": (", ", "; ")}  # fields, and objects
_DIGEST_CHARACTERS = 24
_CENT = Decimal("0.01")


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
    shape, line = printable.printed, _line_of(printable)
    shown: dict[str, Any] = project(shape, record)
    await name_references(replace(req, language=language, names={}), shape, [shown])
    entries = await req.part(Dictionaries).current()
    words = _Words(req.part(Catalogue), entries, language, req.service.settings.zone)
    rows = shown.get(printable.lines) or [] if printable.lines else []
    values = words.texts(shape, {**shown, printable.lines: None})
    return _fill(printable, language, values, [words.texts(line, row) for row in rows])


def example_of(printable: Printable, language: Language) -> Content:
    """Return a paper with examples in the place of values, to try a template with."""
    values, row = (
        {name: str(field.example or "100.00") for name, field in (shape.fields or {}).items()}
        for shape in (printable.printed, _line_of(printable))
    )
    return _fill(printable, language, values, [row, row] if printable.lines else [])


def _fill(printable: Printable, language: Language, values: dict[str, str], rows: list[dict[str, str]]) -> Content:
    fields, inside = printable.printed.fields or {}, _line_of(printable).fields or {}

    def label(name: str, field: Field) -> str:
        return field.label.text(language) if field.label is not None else name

    def named(names: Iterable[str]) -> list[Named]:
        return [{"name": one, "label": label(one, fields[one]), "value": values[one]} for one in names]

    return {
        "kind": printable.name,
        "language": language,
        "title": printable.title.text(language),
        "number": values.get(printable.number, ""),
        "letter": printable.letter.text(language, **values) if printable.letter is not None else "",
        "party": named(printable.party),
        "facts": named(printable.facts),
        "columns": [
            {"name": one, "label": label(one, inside[one]), "numeric": inside[one].kind in _NUMERIC}
            for one in printable.columns
        ],
        "rows": rows,
        "totals": named(printable.totals),
        "notes": named(printable.notes),
        "signed_by": [one.text(language) for one in printable.signed_by],
        "values": values,
    }


def _line_of(printable: Printable) -> Field:
    """Return the shape of a line; an empty one for a paper without lines."""
    lines = (printable.printed.fields or {}).get(printable.lines)
    return lines.items if lines is not None and lines.items is not None else NOTHING


def digest_of(content: Content) -> str:
    """Return the digest of what the declaration prints; other fields, such as what is paid, do not count."""
    columns = [column["name"] for column in content["columns"]]
    said = [[one["name"], one["value"]] for part in ("party", "facts", "totals", "notes") for one in content[part]]
    said += [[row[name] for name in columns] for row in content["rows"]]
    return hashlib.sha256(orjson.dumps([content["number"], said])).hexdigest()[:_DIGEST_CHARACTERS]
