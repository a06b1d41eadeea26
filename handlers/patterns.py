"""Patterns of the API. Clients compile them too, so they are regular expressions of ECMA-262 with the flag `u`.

JSON Schema asks for that dialect. `\\w`, `\\d`, `\\b` and `.` mean other characters in Python, and have no place here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import regress

from handlers.schema import Field


@lru_cache(maxsize=1000)
def syntax_fault(pattern: str) -> str | None:
    """What a client that compiles `pattern` with the flag `u` says against it."""
    try:
        regress.Regex(pattern, "u")
    except regress.RegressError as error:
        return str(error)
    return None


def patterns_of(field: Field, path: str = "", above: tuple[Field, ...] = ()) -> Iterator[tuple[str, str]]:
    """The pattern of a field and of all that is in it, each with the path to it."""
    pattern = field.rules.get("pattern")
    if pattern is not None:
        yield path, pattern
    if field in above:  # the children of a tree
        return
    for name, child in (field.fields or {}).items():
        yield from patterns_of(child, f"{path}.{name}" if path else name, (*above, field))
    if field.items is not None:
        yield from patterns_of(field.items, f"{path}[]" if field.kind == "array" else f"{path}.*", (*above, field))
