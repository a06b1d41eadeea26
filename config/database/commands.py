"""What the commands of all drivers have in common: options, and what answers say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bson import DEFAULT_CODEC_OPTIONS

Document = dict[str, Any]
Filter = Mapping[str, Any]
Sort = Sequence[tuple[str, int]]

CODEC = DEFAULT_CODEC_OPTIONS.with_options(tz_aware=True)
DUPLICATE = 11000
NATURAL_ORDER: Mapping[str, Any] = {"hint": {"$natural": 1}}


def projection(fields: Sequence[str] | None, without: Sequence[str] = ()) -> dict[str, int] | None:
    """What of a document is read: `fields` alone, or all but `without`; None for all of it."""
    if fields is not None:
        return dict.fromkeys(fields, 1) or {"_id": 1}
    return dict.fromkeys(without, 0) or None


def refuses(answer: Mapping[str, Any]) -> bool:
    """Whether an answer tells of a failure, of the command or of one of its writes."""
    return not answer.get("ok") or "writeErrors" in answer or "writeConcernError" in answer


def only_there_already(answer: Mapping[str, Any]) -> bool:
    """Whether all that an unordered insert could not write has an `_id` that is taken."""
    faults = answer.get("writeErrors") or ()
    taken = all(fault.get("code") == DUPLICATE and list(fault.get("keyPattern", ())) == ["_id"] for fault in faults)
    return bool(faults) and taken and not answer.get("writeConcernErrors") and "writeConcernError" not in answer


def find_options(
    sort: Sort, skip: int, limit: int, fields: Sequence[str] | None, without: Sequence[str], hint: str | None = None
) -> dict[str, Any]:
    """The options of the command `find`, those alone that say something."""
    shown = projection(fields, without)
    options = {"sort": dict(sort), "skip": skip, "limit": limit, "projection": shown, "hint": hint}
    return {name: value for name, value in options.items() if value}


def count_command(collection: str, filter: Filter, limit: int = 0, hint: str | None = None) -> dict[str, Any]:
    """The command that counts what matches, committed by a majority; `limit` is as far as it counts, 0 to the end."""
    further = {name: value for name, value in {"limit": limit, "hint": hint}.items() if value}
    return {"count": collection, "query": dict(filter), "readConcern": {"level": "majority"}, **further}
