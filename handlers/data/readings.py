"""The dictionaries of pypinyin, which read Chinese, with equal readings in memory once.

The library would keep two lists and a string for each of 165,000 syllables; 1,250 of them are different. The phrases
are kept beside the compiled modules, packed, as a process takes longer to pack them than to read everything else.
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
    """What reads Chinese: `["chong", "qing"]` of `重庆`. The first call loads the dictionaries, in a third of a second."""
    with _loading:
        return _load()


@cache
def _load() -> Callable[[str], list[str]]:
    # the import reads these: it leaves the phrases to us, and keeps one copy of the other dictionary
    os.environ.update(PYPINYIN_NO_PHRASES="1", PYPINYIN_NO_DICT_COPY="1")
    from pypinyin import __version__, lazy_pinyin, load_phrases_dict

    load_phrases_dict(phrases(kept_at(__version__)))
    read: Callable[[str], list[str]] = lazy_pinyin
    return read


def kept_at(version: str) -> Path:
    """Where the phrases of this version of pypinyin are kept for this version of Python."""
    return Path(cache_from_source(__file__)).with_name(f"phrases-{version}.{sys.implementation.cache_tag}")


def phrases(kept: Path) -> Phrases:
    """The phrases: those of the file `kept` where it is sound, else those of the library, which are kept then."""
    # of a file that was cut, or written by somebody else, marshal may say any of these
    with suppress(OSError, EOFError, ValueError, TypeError):
        return _unpacked(kept.read_bytes())
    from pypinyin.phrases_dict import phrases_dict

    packed = _packed(phrases_dict)
    if not sys.dont_write_bytecode:
        _keep(packed, kept)
    return _unpacked(packed)


def _keep(packed: bytes, kept: Path) -> None:
    """Write the file, whole or not at all; do nothing where it cannot be written."""
    fresh = kept.with_name(f"{kept.name}.{os.getpid()}")
    with suppress(OSError):
        try:
            fresh.write_bytes(packed)
            fresh.replace(kept)
        finally:
            fresh.unlink(missing_ok=True)


def _packed(phrases: Phrases) -> bytes:
    """The phrases with equal readings as one object; `phrases` is empty afterwards, so that its memory is freed whole."""
    known: dict[tuple[str, ...], list[str]] = {}
    shared = {phrase: [known.setdefault(tuple(one), one) for one in each] for phrase, each in phrases.items()}
    packed = marshal.dumps(shared)
    for original in (phrases, shared, known):
        original.clear()
    return packed


def _unpacked(packed: bytes) -> Phrases:
    found: Phrases = marshal.loads(packed)  # noqa: S302 - from where Python itself loads compiled modules, or from above
    return found
