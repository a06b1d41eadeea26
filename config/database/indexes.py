"""Indexes: what is declared of one, and whether it is there as declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pymongo import IndexModel


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
        "time to live": (wanted.expire_seconds, there.get("expireAfterSeconds")),
    }
    never_declared = [option for option in ("hidden", "sparse") if there.get(option)]
    return [part for part, (declared, found) in parts.items() if declared != found] + never_declared
