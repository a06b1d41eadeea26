"""What never reaches a log: passwords, tokens, secrets, keys."""

from __future__ import annotations

from typing import Any

from config.logs import is_secret_name
from handlers.schema import Field

HIDDEN = "***"
_MAX_DEPTH = 8
_MAX_ITEMS = 50
_MAX_TEXT = 500


def redacted(value: Any, shape: Field | None = None, depth: int = 0) -> Any:
    """A copy of a JSON value with every secret hidden and everything long cut short.

    A secret is what is named like one, and what `shape` declares to be one.
    """
    if shape is not None and shape.secret:
        return HIDDEN
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, dict):
        known = (shape.fields if shape else None) or {}
        return {
            _name(name): HIDDEN if is_secret_name(str(name)) else redacted(item, known.get(name), depth + 1)
            for name, item in list(value.items())[:_MAX_ITEMS]
        }
    if isinstance(value, list):
        return [redacted(item, shape.items if shape else None, depth + 1) for item in value[:_MAX_ITEMS]]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return value[:_MAX_TEXT] if isinstance(value, str) else value


def _name(name: object) -> str:
    """A key that MongoDB holds: without NUL, and none of the `$ref` and `$id` that it would read as a reference."""
    kept = str(name)[:100].replace("\x00", "\\0")
    return f"\\{kept}" if kept.startswith("$") else kept
