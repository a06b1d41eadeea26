"""Indexes: their declarations, and the steps that make the existing ones equal to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from pymongo import IndexModel

_SUFFIX = "~"
_TIME_TO_LIVE = "time to live"


@dataclass(frozen=True)
class IndexSpec:
    """A declared index: its keys with their directions, and the documents that it covers."""

    name: str
    keys: tuple[tuple[str, int | str], ...]
    unique: bool = False
    partial: Mapping[str, Any] | None = None
    expire_seconds: int | None = None


def index_model(spec: IndexSpec) -> IndexModel:
    """Return the index as PyMongo creates it."""
    options: dict[str, Any] = {"name": spec.name, "unique": spec.unique}
    if spec.partial is not None:
        options["partialFilterExpression"] = spec.partial
    if spec.expire_seconds is not None:
        options["expireAfterSeconds"] = spec.expire_seconds
    return IndexModel(list(spec.keys), **options)


def differences(wanted: IndexSpec, existing: Mapping[str, Any]) -> list[str]:
    """Return the parts in which an existing index, as MongoDB lists it, differs from its declaration."""
    parts = {
        "keys": (list(wanted.keys), list(existing["key"].items())),
        # MongoDB leaves out what is not set
        "uniqueness": (wanted.unique, bool(existing.get("unique"))),
        "covered documents": (dict(wanted.partial or {}), existing.get("partialFilterExpression", {})),
        _TIME_TO_LIVE: (wanted.expire_seconds, existing.get("expireAfterSeconds")),
    }
    never_declared = [option for option in ("hidden", "sparse") if existing.get(option)]
    return [part for part, (declared, found) in parts.items() if declared != found] + never_declared


@dataclass(frozen=True)
class IndexPlan:
    """The steps: indexes to `create`, indexes that `expire` after a different time, and indexes to `drop` afterwards.

    The time to live of an index is changed in place. `changed` maps the name of each index that differs from its
    declaration to the parts that differ.
    """

    create: Sequence[IndexSpec]
    expire: Sequence[tuple[str, int]]
    drop: Sequence[str]
    changed: Mapping[str, Sequence[str]]


def are_in_place(wanted: Sequence[IndexSpec], existing: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the existing indexes, as MongoDB lists them, are exactly the declared ones."""
    steps = plan(wanted, existing)
    return not (steps.create or steps.expire or steps.drop)


def plan(wanted: Sequence[IndexSpec], existing: Sequence[Mapping[str, Any]]) -> IndexPlan:
    """Return the plan for a collection with these indexes, as MongoDB lists them.

    An index that differs is created beside the old one, which is then dropped. MongoDB cannot rename an index, so the
    new one gets another name of the same family: `name`, `name~`, `name~~`.
    """
    by_name = {index["name"]: index for index in existing if index["name"] != "_id_"}
    create, expire, kept, changed = [], [], set(), {}
    for spec in wanted:
        family = [name for name in by_name if name.rstrip(_SUFFIX) == spec.name]
        found = {name: differences(spec, by_name[name]) for name in family}
        sound = next((name for name, parts in found.items() if not parts), None)
        timed = next((name for name, parts in found.items() if parts == [_TIME_TO_LIVE]), None)
        changed.update({name: parts for name, parts in found.items() if sound is None})
        if sound is not None:
            kept.add(sound)
        elif timed is not None and spec.expire_seconds is not None:
            kept.add(timed)
            expire.append((timed, spec.expire_seconds))
        else:
            names = (spec.name + _SUFFIX * number for number in count())
            create.append(replace(spec, name=next(name for name in names if name not in by_name)))
    return IndexPlan(create, expire, [name for name in by_name if name not in kept], changed)
