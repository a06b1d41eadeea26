"""Redaction: passwords, tokens, secrets and keys never reach a log."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from config.logs import is_secret_name
from handlers.schema.fields import Field

HIDDEN = "***"
_MAX_DEPTH = 8
_MAX_ITEMS = 50
_MAX_TEXT = 500
_MAX_NAME = 100


def redacted(value: object, shape: Field | None = None, *, valid: bool = False, depth: int = 0) -> object:
    """Copy a JSON value with every secret hidden and long values truncated.

    A value is a secret if it is named like one, or if `shape` declares it as one. `valid`: it conforms to `shape`.
    """
    if shape is not None and shape.secret:
        return HIDDEN
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, str):
        return value[:_MAX_TEXT]
    if isinstance(value, dict):
        return _redact_object(value, shape, valid, depth)
    if isinstance(value, list):
        items = shape.items if shape else None
        return [redacted(item, items, valid=valid, depth=depth + 1) for item in value[:_MAX_ITEMS]]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return value


def _redact_object(value: dict[str, object], shape: Field | None, valid: bool, depth: int) -> dict[str, object]:
    if valid and shape and depth < _MAX_DEPTH and len(value) <= _MAX_ITEMS and _plain_names(shape).issuperset(value):
        # like most bodies: nothing is hidden or renamed, and most values are short texts
        shown = value.copy()
        for name, child in _shortened_fields(shape):
            if name in value:
                shown[name] = redacted(value[name], child, valid=True, depth=depth + 1)
        return shown
    known = (shape.fields if shape else None) or {}
    shown = {}
    for name, item in islice(value.items(), _MAX_ITEMS):
        kept, hidden = _key(name) if len(name) <= _MAX_NAME else _key.__wrapped__(name)
        shown[kept] = HIDDEN if hidden else redacted(item, known.get(name), valid=valid, depth=depth + 1)
    return shown


@lru_cache(maxsize=2000)
def _plain_names(shape: Field) -> frozenset[str]:
    """Return the names of the fields of an object that are no secrets and can be stored as they are."""
    fields = shape.fields or {}
    return frozenset(name for name, child in fields.items() if not child.secret and _key(name) == (name, False))


@lru_cache(maxsize=2000)
def _shortened_fields(shape: Field) -> list[tuple[str, Field]]:
    """Return the fields of an object whose valid values may have to be truncated, or may contain secrets."""
    return [(name, child) for name, child in (shape.fields or {}).items() if not _is_short(child)]


def _is_short(field: Field) -> bool:
    if field.kind == "array" and field.items is not None:
        return bool(field.rules.get("maxItems", _MAX_ITEMS + 1) <= _MAX_ITEMS) and _is_short(field.items)
    if field.kind == "text":
        return bool(field.rules.get("maxLength", _MAX_TEXT + 1) <= _MAX_TEXT)
    return field.kind == "boolean"


@lru_cache(maxsize=2000)
def _key(name: str) -> tuple[str, bool]:
    """Return a key that MongoDB can store, and whether it names a secret.

    The key has no NUL and does not begin with `$`, because MongoDB reads `$ref` and `$id` as a reference.
    """
    kept = name[:_MAX_NAME].replace("\x00", "\\0")
    return (f"\\{kept}" if kept.startswith("$") else kept), is_secret_name(name)
