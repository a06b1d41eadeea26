"""Removes partial files of dead processes, and files that nothing refers to."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from plugins.api import ApiError, Collection, Field, Service, utc_now
from plugins.api.data import Database, try_transition
from plugins.api.errors import UNAVAILABLE
from plugins.api.records import Catalogue
from plugins.files.names import KEY, STEM
from plugins.files.objects import Files
from plugins.files.record_types import StoredFile
from plugins.files.records import ATTACHMENTS, OBJECTS

log = logging.getLogger("tradewind.files")
_BATCH = 200
_READABLE = ("stored", "expected")
_PAGE = 20


async def clean_up(files: Files) -> None:
    """Remove the files that processes of this machine were writing when they ended. Runs at every start."""
    with files.presence.claim_dead() as dead:
        for file in await files.records.find({"state": "arriving", "writer": {"$in": dead}}) if dead else ():
            await files.remove(file["id"])
            log.info("partial file removed", extra={"key": file["id"]})


async def sweep(service: Service, files: Files) -> None:
    """Remove files that were not attached in time and that no record refers to. Runs on one instance."""
    cutoff = utc_now() - timedelta(hours=files.settings.unattached_hours)
    await files.storage.tidy(cutoff)
    while old := await files.records.find({"attached": False, "created_at": {"$lt": cutoff}}, limit=_BATCH):
        named = await find_named_keys(service) if any(file["state"] in _READABLE for file in old) else set()
        await _sweep_all(files, old, named)
        if len(old) < _BATCH:
            return


async def _sweep_all(files: Files, old: Iterable[StoredFile], named: set[str]) -> None:
    removed: Counter[bool] = Counter()
    try:
        for file in old:
            removed[await _sweep_one(files, file, file["id"][:STEM] in named)] += 1
    finally:  # also for a sweep that ends early, because another instance has taken over
        log.info("files swept", extra={"removed": removed[True], "kept": removed[False]})


async def _sweep_one(files: Files, file: StoredFile, named: bool) -> bool:
    """Remove a file, or keep it for good. Returns whether this call removed it: another sweep may be faster."""
    in_use = named or await _is_attached(files.database, file["id"])
    if in_use and await _exists(files, file) and await files.mark_attached(file["id"]):
        return False
    # nobody can attach it in this state, and the next sweep completes an interrupted removal
    if await try_transition(files.records, {"_id": file["id"], "attached": False}, "leave") is None:
        return False
    return await files.remove(file["id"])


async def _exists(files: Files, file: StoredFile) -> bool:
    """Return whether the file has arrived and was accepted. Raises 50300 while the storage is unavailable."""
    try:
        await files.settle(file)
    except ApiError as error:
        if error.kind is UNAVAILABLE:
            raise
        return False
    return True


async def _is_attached(database: Database, key: str) -> bool:
    return await database.store(ATTACHMENTS).count({"object_key": key}) > 0


async def find_named_keys(service: Service) -> set[str]:
    """Return the stem of every key in a record of any plugin: an avatar, a cover, an image in an article.

    Plugins thus need not declare that they use files. Collections that expire, such as logs and sessions, do not count.
    """
    found: set[str] = set()
    for collection in service.part(Catalogue).collections.values():
        expires = any(index.expire_seconds is not None for index in collection.indexes)
        if collection.name not in (OBJECTS.name, ATTACHMENTS.name) and not expires:
            found |= await _find_keys(service.database, collection)
    return found


async def _find_keys(database: Database, collection: Collection) -> set[str]:
    texts, others = _find_paths(collection.fields)
    clauses = [{path: {"$regex": KEY.pattern}} for path in texts] + [{path: {"$ne": None}} for path in others]
    if not clauses:
        return set()
    store, found = database.store(collection), set[str]()
    behind: list[dict[str, Any]] = []
    while True:
        rows = await store.find(
            {"$and": [{"$or": clauses}, *behind]}, sort="id", limit=_PAGE, fields=["_id", *texts, *others]
        )
        found.update(key[:STEM] for row in rows for text in _iterate_strings(row) for key in KEY.findall(text))
        if len(rows) < _PAGE:
            return found
        behind = [{"_id": {"$gt": rows[-1]["id"]}}]


def _find_paths(fields: Mapping[str, Field], prefix: str = "") -> tuple[list[str], list[str]]:
    """Return the paths of texts that may contain a key, and of values that may contain anything."""
    texts: list[str] = []
    others: list[str] = []
    for name, field in fields.items():
        inner = field.items if field.kind == "array" and field.items is not None else field
        if inner.kind == "object":
            below = _find_paths(inner.fields or {}, f"{prefix}{name}.")
            texts += below[0]
            others += below[1]
        elif inner.kind in ("any", "mapping"):
            others.append(f"{prefix}{name}")
        elif inner.kind == "text" and inner.rules.get("maxLength", 0) >= STEM:
            texts.append(f"{prefix}{name}")
    return texts, others


def _iterate_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _iterate_all_strings(value.values())
    elif isinstance(value, list):
        yield from _iterate_all_strings(value)


def _iterate_all_strings(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from _iterate_strings(value)
