"""Chinese surnames that are read otherwise than the same characters in other words."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
