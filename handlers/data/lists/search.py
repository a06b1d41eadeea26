"""Search in Chinese and English: `q` finds parts of values, full pinyin, pinyin initials, and words in any order.

MongoDB's text index does not split Chinese into words. So a record stores its folded searchable values, one on each
line of `search_text`, and the first characters of each of their suffixes in the indexed array `search_grams`. A search
looks up one of its words by a prefix of these keys, and compares all words with the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from handlers.data.lists.normalizing import chinese_parts, fold, pinyin, read_surnames

# ITU-T E.164, list of assigned country codes
_COUNTRY = re.compile("[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|[0-9]{3}")
_INTERNATIONAL = re.compile(r"(?<![0-9A-Za-z+])(?:\+|00(?=(?:[ ().-]*[0-9]){9}))[1-9](?:[ ().-]*[0-9]){6,}")
_CHINESE_MOBILE = re.compile(r"(?<![0-9A-Za-z+])86[ -]*(?=1[3-9](?:[ -]*[0-9]){9}(?![0-9]))")
_TRUNK = re.compile(r"(?<![0-9A-Za-z+])0(?=[1-9](?:[ ().-]*[0-9]){7})")


def as_searched(typed: str) -> str:
    """Return a search without the prefixes of its numbers: the rest is part of the number in every stored notation."""
    typed = _INTERNATIONAL.sub(lambda found: f" {_national(found[0])}", typed)
    return _TRUNK.sub(" ", _CHINESE_MOBILE.sub(" ", typed))


def as_stored(text: str) -> Iterator[str]:
    """Yield the searched forms of a value; an international number also has the form dialled within its country."""
    yield text
    if _INTERNATIONAL.fullmatch(text.strip()):
        yield f"0{_national(text.strip())}"


def _national(number: str) -> str:
    """Return the digits of an international number without prefix, country code and a trunk prefix such as `(0)`."""
    digits = re.sub(r"[^0-9]", "", number.replace("(0)", "")).removeprefix("00")
    return _COUNTRY.sub("", digits, count=1).removeprefix("0")


# The form of the stored fields. A text of this form begins with `FORM`, which sorts after every text of an older form:
# `SearchIndexing` rebuilds those. When the form changes, it must take the next letter.
FORM_NAME = "C"
FORM = f"\U0010fffd{FORM_NAME}"
# characters of a key: longer keys cost more to write and leave hardly fewer texts to compare
WIDTH = 4
MAX_KEYS = 2000  # a name of 500 Chinese characters with its pinyin has fewer
LONG = 500  # a longer value is found by the beginnings of its words only, and not by pinyin
_FORMER_PAIRS = 8
_MOST_COMPARED = 50  # words, which are compared in pairs
_DIGITS = str.maketrans("0123456789", "ΑΒΓΔΕΖΗΘΙΚ")
_SEPARATORS = re.compile(r"[\s,;/|、。·]+")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_CJK = "\u2e80"  # the first script of East Asia, whose scripts put no blanks between words


def search_values(values: Mapping[str, object], persons: Container[str] = ()) -> dict[str, Any]:
    """Return the fields `search_text` and `search_grams` of a record whose searchable fields have these values.

    `persons` are the fields with names of persons, which are found by the reading of the surname as well.
    """
    lines = [FORM]
    keys: list[str] = []
    pinyin_keys: list[str] = []  # after the keys of all values, as keys beyond `MAX_KEYS` are dropped
    for name, value in values.items():
        for text in _texts(value):
            plain = fold(text)
            lines.append(_label(name) + plain)
            starts = range(len(plain)) if len(plain) <= LONG else _word_starts(text, plain)
            keys += [plain[at : at + WIDTH] for at in starts]
            if len(plain) <= LONG and not plain.isascii():
                for form, places in _pinyin_forms(plain, name in persons):
                    lines.append(_label(name) + form)
                    pinyin_keys += [form[at : at + WIDTH] for at in places]
    return {"search_text": "\n".join(lines), "search_grams": list(dict.fromkeys(keys + pinyin_keys))[:MAX_KEYS]}


def search_filter(query: str, fields: Sequence[str] = ()) -> dict[str, Any]:
    """Return the MongoDB filter for what a person typed, in all searchable fields or only in `fields` if given.

    Blanks match everything. Symbols without a letter or digit match nothing here; `symbols_filter` is for those.
    """
    if not query.strip():
        return {}
    words = _words(query)
    if not words:
        return {"_id": {"$in": []}}
    compared = words if fields or len(words[0]) > WIDTH else words[1:]
    texts = [_text_condition(word, fields) for word in compared]
    return {"$and": [_key(words), *texts]} if texts else _key(words)


def search_key(query: str) -> dict[str, Any] | None:
    """Return the part of `search_filter` that the index serves; None if the query has neither letter nor digit."""
    words = _words(query)
    return _key(words) if words else None


def symbols_filter(query: str, fields: Sequence[str]) -> dict[str, Any]:
    """Return the filter for a search without a letter or digit. No index serves it: symbols are not in the keys."""
    typed = dict.fromkeys((query.strip(), unicodedata.normalize("NFKC", query).strip()))
    pattern = "|".join(map(re.escape, typed))
    return {"$or": [{field: {"$regex": pattern}} for field in fields]}


def former_filter(query: str) -> dict[str, Any]:
    """Return `search_filter` for records in the first form: values without case, and pairs of adjacent characters."""
    wanted = " ".join(unicodedata.normalize("NFKC", query).casefold().split())
    pairs = [wanted[at : at + 2] for at in range(len(wanted) - 1)][:_FORMER_PAIRS]
    return {"search_text": {"$regex": re.escape(wanted)}, **({"search_grams": {"$all": pairs}} if pairs else {})}


def _text_condition(word: str, fields: Sequence[str]) -> dict[str, Any]:
    """Return the condition that the text contains the word, in the lines of these fields if any are given."""
    if not fields:
        return {"search_text": {"$regex": word}}
    return {"search_text": {"$regex": f"^(?:{'|'.join(map(_label, fields))}).*{word}", "$options": "m"}}


def _key_part(word: str) -> str:
    """Return the part of a word that is looked up: the end of a number, as numbers differ there, else the beginning."""
    end = word[-WIDTH:]
    return end if end.isdigit() and end.isascii() else word[:WIDTH]


def _key(words: Sequence[str]) -> dict[str, Any]:
    return {"search_grams": {"$regex": f"^{_key_part(words[0])}"}}


def _words(query: str) -> list[str]:
    """Return the folded words, the one that is probably rarest first, without those that another word contains."""
    typed = unicodedata.normalize("NFKC", query)
    words = dict.fromkeys(filter(None, map(fold, dict.fromkeys(_SEPARATORS.split(as_searched(typed))))))
    needed = list(reversed(words))
    if len(needed) <= _MOST_COMPARED:
        needed = [word for word in needed if not any(word != other and word in other for other in words)]
    return sorted(needed, key=_weight, reverse=True)


def _weight(word: str) -> int:
    """Return how rare records with the word probably are: a Chinese character says as much as three letters."""
    return sum(1 if character.isascii() else 3 for character in _key_part(word))


def _texts(value: object) -> Iterator[str]:
    items = value if isinstance(value, list) else [value]
    for item in items:
        if item is not None and item != "":
            yield from as_stored(unicodedata.normalize("NFKC", str(item)))


def _pinyin_forms(plain: str, person: bool) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield a folded text in full pinyin and in initials, each with the positions of its keys, if it has Chinese.

    Surnames follow in their own reading, where that is another one.
    """
    parts = chinese_parts(plain)
    if len(parts) == 1:
        return
    usual = [pinyin(part) if at % 2 else (part,) for at, part in enumerate(parts)]
    own = [read_surnames(part, usual[at], person) if at % 2 else (part,) for at, part in enumerate(parts)]
    for read in (usual,) if own == usual else (usual, own):
        yield _join([syllable for syllables in read for syllable in syllables])
        initials = "".join([one[0] if at % 2 else one for at, syllables in enumerate(read) for one in syllables])
        yield initials, range(len(initials))


def _join(pieces: Iterable[str]) -> tuple[str, list[int]]:
    """Return the pieces as one text, and the position of each."""
    filled = [piece for piece in pieces if piece]
    return "".join(filled), list(accumulate(map(len, filled[:-1]), initial=0))


def _word_starts(text: str, plain: str) -> list[int]:
    """Return where words begin in `plain`, the folded `text`, and all positions in numbers and unspaced scripts."""
    words = _join(map(fold, _BETWEEN_WORDS.split(text)))[1]
    return sorted({*words, *(at for at, character in enumerate(plain) if character.isdigit() or character >= _CJK)})


@cache
def _label(field: str) -> str:
    """Return the beginning of a field's lines. No folded word matches it: it has no lower-case letters or digits."""
    return f"{field.upper().translate(_DIGITS)}:"
