"""Indexes: what is declared of one, and whether it is there as declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from pymongo import IndexModel

_BESIDE = "~"
_TIME_TO_LIVE = "time to live"


@dataclass(frozen=True)
class IndexSpec:
    """An index to create: keys with their directions, and the documents it covers."""

    name: str
    keys: tuple[tuple[str, int | str], ...]
    unique: bool = False
    partial: Mapping[str, Any] | None = None
    expire_seconds: int | None = None


def index_model(spec: IndexSpec) -> IndexModel:
    """The index as the drivers create it."""
    options: dict[str, Any] = {"name": spec.name, "unique": spec.unique}
    if spec.partial is not None:
        options["partialFilterExpression"] = spec.partial
    if spec.expire_seconds is not None:
        options["expireAfterSeconds"] = spec.expire_seconds
    return IndexModel(list(spec.keys), **options)


def differences(wanted: IndexSpec, there: Mapping[str, Any]) -> list[str]:
    """What of an index, as MongoDB lists it, is not as declared; MongoDB leaves out what is not set."""
    parts = {
        "keys": (list(wanted.keys), list(there["key"].items())),
        "uniqueness": (wanted.unique, bool(there.get("unique"))),
        "covered documents": (dict(wanted.partial or {}), there.get("partialFilterExpression", {})),
        _TIME_TO_LIVE: (wanted.expire_seconds, there.get("expireAfterSeconds")),
    }
    never_declared = [option for option in ("hidden", "sparse") if there.get(option)]
    return [part for part, (declared, found) in parts.items() if declared != found] + never_declared


@dataclass(frozen=True)
class IndexPlan:
    """What makes indexes as declared: those to `create`, those to `expire` in place, and the names to `drop` then.

    `changed` tells of each that is there otherwise what differs.
    """

    create: Sequence[IndexSpec]
    expire: Sequence[tuple[str, int]]
    drop: Sequence[str]
    changed: Mapping[str, Sequence[str]]


def plan(wanted: Sequence[IndexSpec], there: Mapping[str, Mapping[str, Any]]) -> IndexPlan:
    """The plan for a collection whose indexes, by name and without that of `_id`, are `there`.

    An index that is declared otherwise is made beside the old one, which then goes. MongoDB renames no index, so the new
    one has another name of the same family: `name`, `name~`, `name~~`.
    """
    create, expire, kept, changed = [], [], set(), {}
    for spec in wanted:
        family = [name for name in there if name.rstrip(_BESIDE) == spec.name]
        found = {name: differences(spec, there[name]) for name in family}
        sound = next((name for name, parts in found.items() if not parts), None)
        timed = next((name for name, parts in found.items() if parts == [_TIME_TO_LIVE]), None)
        changed.update({name: parts for name, parts in found.items() if sound is None})
        if sound is not None:
            kept.add(sound)
        elif timed is not None and spec.expire_seconds is not None:
            kept.add(timed)
            expire.append((timed, spec.expire_seconds))
        else:
            names = (spec.name + _BESIDE * number for number in count())
            create.append(replace(spec, name=next(name for name in names if name not in there)))
    return IndexPlan(create, expire, [name for name in there if name not in kept], changed)
