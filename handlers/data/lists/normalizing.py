"""Normalises text for comparison: without case, width and accents; Chinese as pinyin."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from handlers.data.lists.surnames import read_surnames

_KNOWN_WORDS = 4096
# ideographs with their extensions and compatibility forms, and the two signs that stand for one
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CHINESE = re.compile(f"([{_HAN}]+)")
# letters that no normal form decomposes (Unicode Standard, chapter 7)
_PLAIN = {"ø": "o", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "þ": "th", "ı": "i"}
_MOST_SORTED = 100
_MOST_KNOWN = 0x10000  # only characters of the first plane are cached, which limits the size


class _Characters(dict[int, int | str | None]):
    """Maps each character to its folded form; each is looked up in Unicode's tables only once."""

    def __init__(self, kept: str) -> None:
        super().__init__({ord(letter): plain for letter, plain in _PLAIN.items()})
        self._kept = kept

    def __missing__(self, code: int) -> int | None:
        # marks above and below letters; marks of other scripts are vowels
        accent = 0x0300 <= code <= 0x036F
        # modifier letters that people type instead of an apostrophe
        dropped = accent or 0x02B9 <= code <= 0x02BF or unicodedata.category(chr(code))[0] not in self._kept
        if code < _MOST_KNOWN:
            self[code] = None if dropped else code
        return None if dropped else code


_LETTERS, _ALL = _Characters("LNM"), _Characters("LNMPSZ")
_ASCII_LETTERS = {code: None for code in range(128) if not chr(code).isalnum()}


def fold(text: str) -> str:
    """Return the letters and digits of `text` without case, width, accents, apostrophes, punctuation and spaces."""
    if text.isascii():
        return text.translate(_ASCII_LETTERS).lower()
    return _fold_characters(text, _LETTERS)


def _fold_characters(text: str, characters: _Characters) -> str:
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", plain.translate(characters))


def sort_key(text: str, person: bool = False) -> str:
    """Return a key that sorts `text`, perhaps the name of a `person`, as people expect: surnames are read as such.

    Texts with equal folded forms are sorted by their characters.
    """
    whole = " ".join(text[:_MOST_SORTED].split())
    spelled = "".join(
        part if at % 2 == 0 else " ".join((*read_surnames(part, pinyin(part), person), ""))
        for at, part in enumerate(chinese_parts(_fold_characters(whole, _ALL)))
    )
    return f"{spelled[:_MOST_SORTED]}\x01{whole}"


def chinese_parts(text: str) -> list[str]:
    """Split `text` where Chinese begins and ends: every second part, from the second on, is Chinese."""
    return _CHINESE.split(text)


@lru_cache(_KNOWN_WORDS)
def pinyin(words: str) -> tuple[str, ...]:
    """Return the syllables of Chinese text; cached, because the parts of names and addresses recur."""
    from pypinyin import lazy_pinyin  # its dictionaries take a quarter of a second

    return tuple(lazy_pinyin(words))
