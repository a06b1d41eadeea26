"""Words that the project once used in a meaning of its own, although the field has standard terms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_PLACES = ("README.md", "config/**/*", "handlers/**/*", "plugins/**/*", "docs/**/*.md", "server.py")
_KINDS = {".py", ".md"}
# each with its replacements
OLD_WORDS = {
    r"\banswer(s|ed|ing)?\b": "response, respond, return",
    r"\btold\b": "reported, refused with, sent",
    r"\btells? (what|which|who|whether|the)\b": "says, reports",
    r"\bwhat is there\b": "existing",
    r"\bwho has no\b": "without",
    r"\bnobody waits\b": "no caller waits",
    r"\bas the seam says\b": "nothing",
    r"\bin sight\b": "visible",
    r"\bgone over\b": "walked, iterated",
    r"\bTogether\b(?=[\[\(:.]|$)": "Batcher",
    r"\bTurns\((?!self)|\bTurns\.\b": "KeyedLocks",
    r"\bContested\b": "WriteConflict",
    r"\bMirror\b": "CachedSnapshot",
    r"\bapart(=|\()": "outside_transaction, detached",
    r"\bfollowed=": "wait_for_durability",
    r"\bwhole=": "collection_scan",
    r"\bbury\b": "soft delete",
    r"\bhand_down\b|\bmade_below\b": "propagate_owner, customer_children",
    r"\bchange_one\b|\bchange_quietly\b|\bchange_many\b": "update_where, update_unversioned, update_many",
    r"\bDesk\b|\bjudge\b": "ApprovalContext, evaluate",
    r"\bspares_super\b": "exempt_super",
    r"\bWitness\b": "ResponseHook",
    r"\b(SPEC|CONTRACT|ARCHITECTURE)(?= \d| section)": "the rule itself",
}
_OLD = re.compile("|".join(f"(?:{word})" for word in OLD_WORDS))
# names in stored documents, which instances of older versions read and write too
_STORED = re.compile(r'(?<== )":?answer"$')


def count_old_words(root: Path) -> Iterator[tuple[str, str]]:
    """Yield each place where an old word is left, and the word, in the product and its documentation."""
    for path in sorted({path for place in _PLACES for path in root.glob(place) if path.suffix in _KINDS}):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for word in _OLD.finditer(_STORED.sub("", line)):
                yield f"{path.relative_to(root)}:{number}", word[0]
