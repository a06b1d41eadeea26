"""What the commands of all drivers share: their options, their documents, and checks of their replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from bson import DEFAULT_CODEC_OPTIONS

Document = dict[str, Any]
Filter = Mapping[str, Any]
Update = Mapping[str, Any] | Sequence[Mapping[str, Any]]  # operators, or the stages of a pipeline
Sort = Sequence[tuple[str, int]]

APP_NAME = "tradewind"
CODEC = DEFAULT_CODEC_OPTIONS.with_options(tz_aware=True)
DUPLICATE = 11000
RESTORING = "core_restoring"  # a collection that exists in a database while a backup is restored into it
NATURAL_ORDER: Mapping[str, Any] = {"hint": {"$natural": 1}}


class ReadOptions(TypedDict, total=False):
    """What is read of a document: only `fields`, or everything except `without`."""

    fields: Sequence[str] | None
    without: Sequence[str]


class FindOneOptions(TypedDict, total=False):
    """`sort` decides which document is the first; all of it is read except the fields `without`."""

    sort: Sort
    without: Sequence[str]


class FindOptions(ReadOptions, total=False):
    """The options of a query; `limit` 0 is no limit, `hint` names the index to use."""

    sort: Sort
    skip: int
    limit: int
    hint: str | None


class CountOptions(TypedDict, total=False):
    """`limit` ends the count at that number, 0 counts all; `hint` names the index to use."""

    limit: int
    hint: str | None


class UpdateOptions(TypedDict, total=False):
    """How `update_one` changes a document.

    `upsert` inserts a document if none matches. `sort` decides which of several matching documents is changed.
    `outside_transaction` keeps the change out of the transaction that it is called in. `wait_for_durability=False`
    returns before a majority has the change; a later write that does wait makes this one durable too, as the oplog and
    the journal keep their order.
    """

    upsert: bool
    outside_transaction: bool
    wait_for_durability: bool
    sort: Sort


def projection(options: FindOptions | FindOneOptions | ReadOptions) -> dict[str, int] | None:
    """Return the projection that `options` ask for; None for the whole document."""
    fields: Any = options.get("fields")
    if fields is not None:
        return dict.fromkeys(fields, 1) or {"_id": 1}
    return dict.fromkeys(options.get("without", ()), 0) or None


def has_failed(reply: Mapping[str, Any]) -> bool:
    """Return whether a reply reports a failure of the command or of one of its writes."""
    return not reply.get("ok") or "writeErrors" in reply or "writeConcernError" in reply


def without_existing_ids(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reply to an unordered insert without the errors for documents whose `_id` exists already."""
    faults = [fault for fault in reply.get("writeErrors") or () if not _is_existing_id(fault)]
    rest = {name: value for name, value in reply.items() if name != "writeErrors"}
    return {**rest, "writeErrors": faults} if faults else rest


def _is_existing_id(fault: Mapping[str, Any]) -> bool:
    return fault.get("code") == DUPLICATE and list(fault.get("keyPattern", ())) == ["_id"]


def writes(pipeline: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether an aggregation stores its results."""
    return any({"$merge", "$out"} & stage.keys() for stage in pipeline)


def find_command(collection: str, filter: Filter, options: FindOptions, batch: int) -> dict[str, Any]:
    """Return the command `find`, with up to `batch` documents in each reply."""
    given = {
        "sort": dict(options.get("sort", ())),
        "skip": options.get("skip"),
        "limit": (limit := options.get("limit", 0)),
        "projection": projection(options),
        "hint": options.get("hint"),
    }
    further = {name: value for name, value in given.items() if value}
    return {"find": collection, "filter": filter, "batchSize": min(limit or batch, batch), **further}


def count_command(collection: str, filter: Filter, options: CountOptions) -> dict[str, Any]:
    """Return the command that counts the matching documents that a majority has committed."""
    further = {name: value for name, value in options.items() if value}
    return {"count": collection, "query": dict(filter), "readConcern": {"level": "majority"}, **further}


def count_pipeline(collection: str, filter: Filter, options: CountOptions) -> dict[str, Any]:
    """Return the command that counts in a transaction, where `count` is not allowed.

    The result is `n` of its only row; without a row it is 0.
    """
    limited = [{"$limit": limit}] if (limit := options.get("limit")) else []
    stages = [{"$match": filter}, *limited, {"$count": "n"}]
    further = {"hint": hint} if (hint := options.get("hint")) else {}
    return {"aggregate": collection, "pipeline": stages, "cursor": {}, **further}
