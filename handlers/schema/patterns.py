"""Patterns of the API. Clients compile them too, so they are regular expressions of ECMA-262 with the flag `u`.

JSON Schema asks for that dialect. `\\w`, `\\d`, `\\b` and `.` mean other characters in Python, and have no place here.
"""

from __future__ import annotations

from functools import lru_cache

import regress


@lru_cache(maxsize=1000)
def syntax_fault(pattern: str) -> str | None:
    """What a client that compiles `pattern` with the flag `u` says against it."""
    try:
        regress.Regex(pattern, "u")
    except regress.RegressError as error:
        return str(error)
    return None
