"""Search in Chinese and English: `q` finds a part of a word, full pinyin, or pinyin initials.

MongoDB's text index does not split Chinese, so pairs of neighbouring characters are kept in an indexed array.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

MAX_GRAMS = 2000  # more than a name of 500 Chinese characters has, its pinyin included
MAX_QUERY_GRAMS = 8
_KNOWN_WORDS = 4096
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def load_pinyin() -> None:
    """Read the dictionary of readings, which takes a quarter of a second; the first Chinese value does, unless called."""
    import pypinyin  # noqa: F401


def search_values(values: Iterable[object]) -> dict[str, Any]:
    """The fields `search_text` and `search_grams` of a record whose searchable values are `values`."""
    parts = [part for value in values for part in _forms(value)]
    grams = dict.fromkeys(gram for part in parts for gram in _grams(part))
    return {"search_text": "\n".join(parts), "search_grams": list(grams)[:MAX_GRAMS]}


def search_filter(query: str) -> dict[str, Any]:
    """The MongoDB filter for what a person typed; nothing typed matches everything."""
    wanted = _normal(query)
    if not wanted:
        return {}
    contains = {"search_text": {"$regex": re.escape(wanted)}}
    grams = _grams(wanted)[:MAX_QUERY_GRAMS]
    return {"search_grams": {"$all": grams}, **contains} if grams else contains


def _normal(value: object) -> str:
    return " ".join(unicodedata.normalize("NFKC", str(value)).casefold().split())


def _forms(value: object) -> list[str]:
    items = value if isinstance(value, list) else [value]
    plain = [_normal(item) for item in items if item is not None and item != ""]
    forms = list(plain)
    for text in plain:
        if any("\u4e00" <= character <= "\u9fff" for character in text):
            forms.append(_NOT_ASCII.sub(lambda found: _pinyin(found[0])[0], text))
            forms.append(_NOT_ASCII.sub(lambda found: _pinyin(found[0])[1], text))
    return forms


@lru_cache(_KNOWN_WORDS)
def _pinyin(words: str) -> tuple[str, str]:
    """In full, and the initials; kept, because the parts of names and addresses come again and again."""
    from pypinyin import Style, lazy_pinyin  # late, as `load_pinyin` says

    return "".join(lazy_pinyin(words)), "".join(lazy_pinyin(words, style=Style.FIRST_LETTER))


def _grams(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(len(text) - 1)]
