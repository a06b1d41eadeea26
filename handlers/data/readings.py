"""The dictionaries of pypinyin, which read Chinese, with equal readings in memory once.

The library would keep two lists and a string for each of 165,000 syllables; 1,250 of them are different.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable
from functools import cache
from threading import Lock

Phrases = dict[str, list[list[str]]]  # the readings of each syllable of a phrase

_loading = Lock()


def reader() -> Callable[[str], list[str]]:
    """What reads Chinese: `["chong", "qing"]` of `重庆`. The first call loads the dictionaries, in a third of a second."""
    with _loading:
        return _load()


@cache
def _load() -> Callable[[str], list[str]]:
    # the import reads these: it leaves the phrases to us, and keeps one copy of the other dictionary
    os.environ.update(PYPINYIN_NO_PHRASES="1", PYPINYIN_NO_DICT_COPY="1")
    from pypinyin import lazy_pinyin, load_phrases_dict
    from pypinyin.phrases_dict import phrases_dict

    load_phrases_dict(_move(phrases_dict))
    read: Callable[[str], list[str]] = lazy_pinyin
    return read


def _move(phrases: Phrases) -> Phrases:
    """The phrases with equal readings as one object, all made anew after `phrases` is empty: its memory is freed whole."""
    known: dict[tuple[str, ...], list[str]] = {}
    shared = {phrase: [known.setdefault(tuple(one), one) for one in each] for phrase, each in phrases.items()}
    packed = marshal.dumps(shared)
    for original in (phrases, shared, known):
        original.clear()
    moved: Phrases = marshal.loads(packed)  # noqa: S302 - packed above
    return moved
