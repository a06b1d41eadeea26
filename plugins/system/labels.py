"""Texts in two languages: a request reads and writes the one of its `Accept-Language`.

The field itself holds the Chinese text and `<field>_en` the English one. A missing English text is read as
the Chinese one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api.values import Language


def read(record: Mapping[str, Any], name: str, language: Language) -> Any:
    """Return the text of the field `name` in `language`."""
    return (record.get(f"{name}_en") if language == "en" else None) or record[name]


def store(values: Mapping[str, Any], name: str, language: Language, *, new: bool) -> dict[str, Any]:
    """Return `values` with the text `name` stored for `language`, and for a new record as the Chinese text too."""
    stored = dict(values)
    if language == "en" and name in stored:
        stored[f"{name}_en"] = stored[name] if new else stored.pop(name)
    return stored
