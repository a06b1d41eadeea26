"""The envelope: every JSON response is `{code, msg, data}`, with the fields that its route declares and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from handlers.schema.conversion import encode
from handlers.schema.errors import (
    FORBIDDEN,
    MAX_FAULTS,
    SUPER_ONLY,
    ApiError,
    MissingPermission,
    ValidationFailed,
)
from handlers.schema.fields import MAX_TEXT, Field, integer, text
from handlers.schema.messages import RULES, SUCCESS, Language
from handlers.schema.values import ReadOnlyRecord, Record


def project(field: Field, value: Any) -> Any:
    """Reduce `value` to the fields of its declared shape; a missing field becomes null."""
    if value is None or not field.holds_fields:
        return value
    if field.kind == "object":
        shown = _select(field, value)
        for name, child in field.nested_fields:
            inner = shown[name]
            if inner or isinstance(inner, dict):  # null and an empty list stay as they are, without a call
                shown[name] = project(child, inner)
        return shown
    if field.items is None:
        return value
    if field.kind == "array":
        return [project(field.items, item) for item in value]
    return {key: project(field.items, item) for key, item in value.items()}


def _select(field: Field, value: Any) -> dict[str, Any]:
    """Return the fields of an object that a response shows.

    A record has all of them and a few others: copying it without those is faster than looking up each field.
    """
    names = field.response_fields
    others = value.keys() - names
    if type(value) is dict and len(value) - len(others) == len(names):
        shown = value.copy()
        for name in others:
            del shown[name]
        return shown
    get = value.get
    return {name: get(name) for name in names}


_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS

PAGE_FIELDS: Mapping[str, Field] = {
    "total": integer(minimum=0, description="The number of records on all pages; null if the count was omitted."),
    "page": integer(minimum=1, nullable=False),
    "page_size": integer(minimum=1, nullable=False),
    "next_cursor": text(
        max_length=2000, description="Pass it as `cursor` to get the next page; null on the last page."
    ),
}


def to_json(value: object) -> bytes:
    """Serialize to JSON: RFC 3339 times, decimals as strings, identifiers as text."""
    return orjson.dumps(value, default=encode, option=_OPTIONS)


def as_json(shape: Field, record: ReadOnlyRecord) -> Record:
    """Convert a record to JSON types, with the fields of `shape`: for a receiver that does not know the collection."""
    shown: Record = orjson.loads(to_json(project(shape, record)))
    return shown


def ok(data: object, language: Language = "zh") -> bytes:
    """Return the envelope of a successful response."""
    return to_json({"code": 0, "msg": SUCCESS.text(language), "data": data})


def failed(error: ApiError, language: Language = "zh") -> bytes:
    """Return the envelope of an error, in the caller's language."""
    return to_json({"code": error.kind.code, "msg": error.reason.text(language), "data": error_data(error, language)})


def repeat(body: bytes, aliases: Mapping[str, str]) -> bytes:
    """Return an envelope with some of its fields under another name too; a body that is no envelope is unchanged."""
    envelope = orjson.loads(body)
    if not isinstance(envelope, dict):
        return body
    return to_json({**envelope, **{alias: envelope[name] for alias, name in aliases.items()}})


def error_data(error: ApiError, language: Language) -> object:
    """Return the `data` of an error; for a validation failure each field with its rule and message, at most 100."""
    if isinstance(error, MissingPermission):
        return {"permission": error.permission, "reason": error.missing.text(language)}
    if error.kind in (FORBIDDEN, SUPER_ONLY):
        return {"permission": None, "reason": error.reason.text(language)}
    if not isinstance(error, ValidationFailed):
        return error.data
    return {
        "errors": [
            {
                "field": fault.field[:MAX_TEXT],
                "rule": fault.rule,
                "message": (fault.message or RULES.get(fault.rule, RULES["invalid"])).text(language),
            }
            for fault in error.errors[:MAX_FAULTS]
        ]
    }
