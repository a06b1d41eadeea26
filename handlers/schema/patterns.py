"""Patterns of the API: regular expressions of ECMA-262 with the flag `u`, because clients compile them too.

JSON Schema requires that dialect. Do not use `\\w`, `\\d`, `\\b` and `.`, which match other characters in Python.
"""

from __future__ import annotations

from functools import lru_cache

import regress


@lru_cache(maxsize=1000)
def syntax_fault(pattern: str) -> str | None:
    """Return the error that a client gets when it compiles `pattern` with the flag `u`; None for a valid pattern."""
    try:
        regress.Regex(pattern, "u")
    except regress.RegressError as error:
        return str(error)
    return None
