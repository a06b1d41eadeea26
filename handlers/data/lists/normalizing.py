"""Normalises text for comparison: without case, width and accents; Chinese as pinyin."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

# the readings that people with these surnames use most, in both kinds of characters
_READINGS: Mapping[str, str] = {
    "shan": "单單",
    "zeng": "曾",
    "xie": "解",
    "qiu": "仇",
    "zha": "查",
    "piao": "朴",
    "ou": "区區",
    "miao": "缪繆",
    "yue": "乐樂",
    "yun": "员員贠",
    "ge": "盖蓋",
    "po": "繁",
    "chong": "种",
    "she": "折",
    "he": "黑",
    "bi": "秘",
    "zhai": "祭翟",
    "shao": "召",
    "xian": "洗",
    "qin": "覃",
    "mu": "牟",
    "wei": "隗",
    "xun": "郇",
    "gou": "句",
    "nai": "能佴",
    "du": "都",
    "kan": "阚闞",
    "nie": "乜",
    "bu": "卜",
    "bo": "薄",
}
SURNAMES: Mapping[str, tuple[str, ...]] = {
    "单于": ("chan", "yu"),
    "單于": ("chan", "yu"),
    "尉遲": ("yu", "chi"),
    "澹臺": ("tan", "tai"),
    **{surname: (reading,) for reading, surnames in _READINGS.items() for surname in surnames},
}
_EITHER = "|".join(SURNAMES)
_OF_FIRM = rf"(?:{_EITHER})(?=氏)"
_OF_PERSON = re.compile(rf"^(?:{_EITHER})|{_OF_FIRM}")
_OF_ANY = re.compile(_OF_FIRM)


def read_surnames(words: str, syllables: tuple[str, ...], person: bool) -> tuple[str, ...]:
    """Return the syllables of Chinese text with its surnames read as such.

    These are before 氏, as in the names of families and their firms, and at the beginning of the name of a `person`.
    """
    if len(syllables) != len(words):
        return syllables  # some characters have no reading
    read = list(syllables)
    for found in (_OF_PERSON if person else _OF_ANY).finditer(words):
        read[found.start() : found.end()] = SURNAMES[found[0]]
    return tuple(read)


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
