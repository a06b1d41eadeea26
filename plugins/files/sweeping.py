"""What is removed without anybody asking: half-written files of dead processes, and files that nothing holds on to."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from plugins.api import UNAVAILABLE, ApiError, Catalogue, Collection, Database, Field, Service, utc_now
from plugins.files.names import KEY, STEM
from plugins.files.objects import File, Files
from plugins.files.records import ATTACHMENTS, OBJECTS

log = logging.getLogger("tradewind.files")
_BATCH = 200
_READABLE = ("stored", "expected")
_PAGE = 20


async def clean_up(files: Files) -> None:
    """Remove what processes of this machine were writing when they ended; run at every start."""
    with files.presence.of_the_dead() as dead:
        for file in await files.records.find({"state": "arriving", "writer": {"$in": dead}}) if dead else ():
            await files.remove(file["id"])
            log.info("half-written file removed", extra={"key": file["id"]})


async def sweep(service: Service, files: Files) -> None:
    """Remove files that nothing was attached to in time, and that no record names; run by one instance."""
    cutoff = utc_now() - timedelta(hours=files.settings.unattached_hours)
    await files.storage.tidy(cutoff)
    while old := await files.records.find({"attached": False, "created_at": {"$lt": cutoff}}, limit=_BATCH):
        named = await named_keys(service) if any(file["state"] in _READABLE for file in old) else set()
        done = [await _sweep_one(files, file, file["id"][:STEM] in named) for file in old]
        log.info("files swept", extra={"removed": done.count(True), "kept": done.count(False)})
        if len(old) < _BATCH:
            return


async def _sweep_one(files: Files, file: File, named: bool) -> bool:
    """Remove a file, or keep it for good; whether it was removed."""
    held = named or await _is_attached(files.database, file["id"])
    if held and await _is_there(files, file) and await files.keep(file["id"]):
        return False
    # from now on nobody can attach it, and who finds it half-removed removes the rest
    leaving = {"_id": file["id"], "attached": False}
    if await files.records.change_one(leaving, {"state": "leaving"}) is not None:
        await files.remove(file["id"])
    return True


async def _is_there(files: Files, file: File) -> bool:
    """Whether the file came, and was taken; 50300 while that cannot be told."""
    try:
        await files.settled(file)
    except ApiError as error:
        if error.kind is UNAVAILABLE:
            raise
        return False
    return True


async def _is_attached(database: Database, key: str) -> bool:
    return await database.store(ATTACHMENTS).count({"object_key": key}) > 0


async def named_keys(service: Service) -> set[str]:
    """The stem of every key that stands in a record of any plugin: an avatar, a cover, an image in an article.

    So no plugin needs to say that it uses files. Logs and sessions, which expire, do not count.
    """
    found: set[str] = set()
    for collection in service.part(Catalogue).collections.values():
        expires = any(index.expire_seconds is not None for index in collection.indexes)
        if collection.name not in (OBJECTS.name, ATTACHMENTS.name) and not expires:
            found |= await _keys_in(service.database, collection)
    return found


async def _keys_in(database: Database, collection: Collection) -> set[str]:
    texts, others = _places(collection.fields)
    clauses = [{path: {"$regex": KEY.pattern}} for path in texts] + [{path: {"$ne": None}} for path in others]
    if not clauses:
        return set()
    store, found = database.store(collection), set[str]()
    behind: list[dict[str, Any]] = []
    while True:
        rows = await store.find(
            {"$and": [{"$or": clauses}, *behind]}, sort="id", limit=_PAGE, fields=["_id", *texts, *others]
        )
        found.update(key[:STEM] for row in rows for text in _strings(row) for key in KEY.findall(text))
        if len(rows) < _PAGE:
            return found
        behind = [{"_id": {"$gt": rows[-1]["id"]}}]


def _places(fields: Mapping[str, Field], prefix: str = "") -> tuple[list[str], list[str]]:
    """The paths of texts that can hold a key, and of values that can hold anything."""
    texts: list[str] = []
    others: list[str] = []
    for name, field in fields.items():
        inner = field.items if field.kind == "array" and field.items is not None else field
        if inner.kind == "object":
            below = _places(inner.fields or {}, f"{prefix}{name}.")
            texts += below[0]
            others += below[1]
        elif inner.kind in ("any", "mapping"):
            others.append(f"{prefix}{name}")
        elif inner.kind == "text" and inner.rules.get("maxLength", 0) >= STEM:
            texts.append(f"{prefix}{name}")
    return texts, others


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _all_strings(value.values())
    elif isinstance(value, list):
        yield from _all_strings(value)


def _all_strings(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from _strings(value)
