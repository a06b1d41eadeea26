"""Makes valid values from declarations: what a client could send for a `Field`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection as Names, Iterator
from decimal import Decimal
from typing import Any

import hypothesis
from hypothesis import strategies

from handlers.data.collection import Collection
from handlers.docs.openapi import example
from handlers.schema.conversion import decode
from handlers.schema.errors import ValidationFailed
from handlers.schema.fields import Field
from handlers.schema.validation import Checker
from plugins.testing import PASSWORD, unique

Refer = Callable[[str], Awaitable[Any]]

MOMENT, DAY, OBJECT_ID = "2026-11-20T08:00:00.000Z", "2026-11-20", "65f0c0ffee65f0c0ffee65f0"
WORDS = (
    "text",
    "/text",
    "/{slug}",
    "https://example.com/text",
    "office@example.com",
    "13800000000",
    "text:text:text",
    "TEXT",
)
_given: set[str] = set()
IN_LINES = frozenset({"product_id", "quantity"})  # a line has these unless it consists of words
ONCE = frozenset({"receipt_number"})  # unique, though no index has the field of a line


async def sample(field: Field, refer: Refer, *, only_required: bool = False, fresh: Names[str] = ()) -> Any:
    """A value that `field` accepts.

    `refer` answers the `id` of a record of a collection; `fresh` names the fields that need a value of their own
    each time, because it is a unique key. With `only_required` optional fields of objects are left out.
    """
    if field.ref and field.kind != "array":
        return await refer(field.ref)
    if field.kind == "object":
        return {
            name: await _member(name, child, refer, only_required, fresh)
            for name, child in (field.fields or {}).items()
            if not child.read_only and (child.required or not only_required or name in IN_LINES)
        }
    if field.kind == "array" and field.items is not None:
        item = field.items.but(ref=field.ref or field.items.ref)
        if field.example is not None and item.ref is None:
            return field.example
        count = max(1, field.rules.get("minItems", 1))
        return [await sample(item, refer, only_required=only_required) for _ in range(count)]
    return scalar(field)


async def _member(name: str, child: Field, refer: Refer, only_required: bool, fresh: Names[str]) -> Any:
    free = child.kind == "text" and "enum" not in child.rules and not child.dictionary
    if name in {*fresh, *ONCE} and not child.ref and free:
        return text(child, fresh=True)
    return await sample(child, refer, only_required=only_required)


def scalar(field: Field) -> Any:
    """A value of a field that holds no others; its example where it has one."""
    if field.secret and field.kind == "text":
        return unique(PASSWORD)
    if field.example is not None:
        return field.example
    if "enum" in field.rules:
        return field.rules["enum"][0]
    if field.kind == "text":
        return text(field)
    if field.kind in ("integer", "number", "money", "quantity"):
        return _number(field)
    return {"boolean": bool(field.default), "timestamp": MOMENT, "day": DAY, "object_id": OBJECT_ID}.get(
        field.kind, "text"
    )


def _number(field: Field) -> Any:
    low, high = (field.rules.get(bound) for bound in ("minimum", "maximum"))
    value = Decimal(1) if low is None else max(Decimal(1), Decimal(str(low)))
    value = value if high is None else min(value, Decimal(str(high)))
    if field.kind == "money":
        return f"{value:.2f}"
    if field.kind == "quantity":
        return str(value)
    return int(value) if field.kind == "integer" else float(value)


def text(field: Field, *, fresh: bool = False) -> str:
    """A string that meets the field's rules; with `fresh` one that was never given before."""
    accepts = _accepted(field)
    candidates = _fresh_words() if fresh else WORDS
    found = next((word for word in candidates if accepts(word)), None) or _by_pattern(field, accepts)
    _given.add(found)
    return found


def _fresh_words() -> Iterator[str]:
    """Words that were never given, for most patterns: to search for one by the pattern takes a second."""
    yield from (unique("sample"), unique("S"), unique("SAMPLE").upper())
    yield from (unique("sample").replace("-", joint) for joint in "_.:")


def _by_pattern(field: Field, accepts: Callable[[str], bool]) -> str:
    """The simplest string that matches and was not given before."""
    strategy = strategies.from_regex(field.rules["pattern"]) if "pattern" in field.rules else strategies.text()
    settings = hypothesis.settings(database=None, derandomize=True, deadline=None, max_examples=1000)
    found: str = hypothesis.find(strategy, lambda word: word not in _given and accepts(word), settings=settings)
    return found


def accepts(field: Field, value: Any) -> bool:
    """Whether a body may carry this value of the field."""
    return _accepted(field)(value)


def _accepted(field: Field) -> Callable[[Any], bool]:
    check = Checker(field)

    def accepts(value: Any) -> bool:
        try:
            check(value)
        except ValidationFailed:
            return False
        return True

    return accepts


def completed(collection: Collection, values: dict[str, Any]) -> dict[str, Any]:
    """`values` of a record that a test stores directly, with a value for every other field that must not be null."""
    lacking = {name: field for name, field in collection.fields.items() if not field.nullable and name not in values}
    return {
        **{
            name: [] if field.kind == "array" and not field.rules.get("minItems") else decode(field, example(field))
            for name, field in lacking.items()
            if field.default is None and not field.write_only and not field.ref
        },
        **values,
    }
