"""Loads the dictionaries with which pypinyin reads Chinese, and keeps only one copy of equal readings in memory.

The library would keep two lists and a string for each of 165,000 syllables, of which only 1,250 are different. The
phrases are stored in packed form beside the compiled modules, because packing them takes a process longer than reading
everything else.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from threading import Lock

Phrases = dict[str, list[list[str]]]  # the readings of each syllable of a phrase

_loading = Lock()


def reader() -> Callable[[str], list[str]]:
    """Return the function that reads Chinese: `重庆` as `["chong", "qing"]`. The first call takes a third of a second."""
    with _loading:
        return _load()


@cache
def _load() -> Callable[[str], list[str]]:
    # the import reads these variables: it then loads no phrases, and keeps one copy of the other dictionary
    os.environ.update(PYPINYIN_NO_PHRASES="1", PYPINYIN_NO_DICT_COPY="1")
    from pypinyin import __version__, lazy_pinyin, load_phrases_dict

    load_phrases_dict(phrases(kept_at(__version__)))
    read: Callable[[str], list[str]] = lazy_pinyin
    return read


def kept_at(version: str) -> Path:
    """Return the path of the file with the phrases of this version of pypinyin, for this version of Python."""
    return Path(cache_from_source(__file__)).with_name(f"phrases-{version}.{sys.implementation.cache_tag}")


def phrases(kept: Path) -> Phrases:
    """Return the phrases from the file `kept` if it is sound; otherwise those of the library, and write the file."""
    # marshal may raise any of these for a file that was truncated, or written by something else
    with suppress(OSError, EOFError, ValueError, TypeError):
        return _unpacked(kept.read_bytes())
    from pypinyin.phrases_dict import phrases_dict

    packed = _packed(phrases_dict)
    if not sys.dont_write_bytecode:
        _keep(packed, kept)
    return _unpacked(packed)


def _keep(packed: bytes, kept: Path) -> None:
    """Write the file, whole or not at all; do nothing if it cannot be written."""
    fresh = kept.with_name(f"{kept.name}.{os.getpid()}")
    with suppress(OSError):
        try:
            fresh.write_bytes(packed)
            fresh.replace(kept)
        finally:
            fresh.unlink(missing_ok=True)


def _packed(phrases: Phrases) -> bytes:
    """Return the phrases packed, with equal readings as one object. Empties `phrases`, to free all of its memory."""
    known: dict[tuple[str, ...], list[str]] = {}
    shared = {phrase: [known.setdefault(tuple(one), one) for one in each] for phrase, each in phrases.items()}
    packed = marshal.dumps(shared)
    for original in (phrases, shared, known):
        original.clear()
    return packed


def _unpacked(packed: bytes) -> Phrases:
    found: Phrases = marshal.loads(packed)  # noqa: S302 - from where Python loads compiled modules, or from above
    return found
