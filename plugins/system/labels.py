"""Texts that are kept in two languages: a caller reads and writes the one of their `Accept-Language`.

The Chinese text is the field itself, the English one `<field>_en`; where there is no English one, the Chinese stands in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Language


def read(record: Mapping[str, Any], name: str, language: Language) -> Any:
    """The text of the field in `language`."""
    return (record.get(f"{name}_en") if language == "en" else None) or record[name]


def written(values: Mapping[str, Any], name: str, language: Language, *, new: bool) -> dict[str, Any]:
    """`values` with the text under the field of `language`; a new record has the Chinese one in any case."""
    stored = dict(values)
    if language == "en" and name in stored:
        stored[f"{name}_en"] = stored[name] if new else stored.pop(name)
    return stored
