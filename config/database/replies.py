"""Reads replies of commands: the fields that they must have, and failures as PyMongo's exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pymongo.errors import DuplicateKeyError, OperationFailure, WriteConcernError, WTimeoutError

from config.database.commands import DUPLICATE, Document
from config.database.errors import DatabaseUnavailable

Value = TypeVar("Value")
_EXPIRED = 50  # MaxTimeMSExpired: src/mongo/base/error_codes.yml
_NOT_DURABLE_IN_TIME = 64  # WriteConcernTimeout


def required(reply: Mapping[str, Any], field: str, kind: type[Value]) -> Value:
    """Return a field that a reply must have. Raises `DatabaseUnavailable`: the command may have been executed."""
    value = reply.get(field)
    if not isinstance(value, kind):
        raise DatabaseUnavailable(f"a reply without {field}")
    return value


def number(reply: Mapping[str, Any], field: str) -> int:
    """Return a count that a reply must have. Raises `DatabaseUnavailable`."""
    value = reply.get(field)
    return int(value) if isinstance(value, float) else required(reply, field, int)


def has_expired(reply: Document) -> bool:
    """Return whether the time limit ended the command, or the wait until its writes are durable."""
    fault = reply.get("writeConcernError", {}) if reply["ok"] else reply
    return bool(fault.get("code") == _EXPIRED)


def failure(reply: Document) -> OperationFailure:
    """Return the exception that PyMongo would raise for a reply that reports a failure."""
    faults = [reply] if not reply["ok"] else reply.get("writeErrors") or [reply.get("writeConcernError", {})]
    fault = faults[0]
    message, code = str(fault.get("errmsg", "")), int(fault.get("code", 0))
    if code == DUPLICATE:
        return DuplicateKeyError(message, code, reply)
    if fault is reply or "writeErrors" in reply:
        return OperationFailure(message, code, reply)
    return (WTimeoutError if code == _NOT_DURABLE_IN_TIME else WriteConcernError)(message, code, reply)
