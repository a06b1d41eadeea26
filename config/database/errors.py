"""What can go wrong with the database, as its callers see it: the drivers' own errors end here."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConnectionFailure,
    DuplicateKeyError,
    ExecutionTimeout,
    NetworkTimeout,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WTimeoutError,
)  # fmt: skip

AWAY = (
    AutoReconnect, ConnectionFailure, NetworkTimeout, ServerSelectionTimeoutError, ExecutionTimeout, WTimeoutError,
)  # fmt: skip
# not primary, shutting down, and other states in which another attempt later succeeds
AWAY_CODES = frozenset({50, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436})
REFUSED_CODES = frozenset({13, 18})  # Unauthorized, AuthenticationFailed: src/mongo/base/error_codes.yml


class DatabaseUnavailable(Exception):
    """The database did not answer within its time limit, or cannot be reached."""


class DatabaseRefused(DatabaseUnavailable):
    """The database answers, and refuses our user, password or rights."""


class DuplicateKey(Exception):
    """A unique key is taken; `fields` are the fields of the index."""

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__(", ".join(fields))
        self.fields = tuple(fields)


class Translated:
    """Raises what PyMongo and Motor raise inside as errors of this file: `with translated: …`."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        told = _told(error) if error is not None else None
        if told is not None:
            raise told from error


translated = Translated()


def _told(error: BaseException) -> Exception | None:
    """What the callers see of `error`; None for what is none of the database's."""
    if isinstance(error, DuplicateKeyError | BulkWriteError):
        fields = _duplicate_fields(error)
        return DuplicateKey(fields) if fields is not None else None
    if isinstance(error, AWAY):
        return DatabaseUnavailable(str(error))
    if isinstance(error, OperationFailure):
        if error.code in REFUSED_CODES:
            return DatabaseRefused(str(error))
        away = error.code in AWAY_CODES or error.has_error_label("TransientTransactionError")
        return DatabaseUnavailable(str(error)) if away else None
    if isinstance(error, TimeoutError):
        return DatabaseUnavailable("no answer within the time limit")
    return DatabaseUnavailable(str(error)) if isinstance(error, PyMongoError) and error.timeout else None


def _duplicate_fields(error: OperationFailure) -> list[str] | None:
    details = error.details or {}
    for write in [details, *details.get("writeErrors", ())]:
        if write.get("code") == 11000:
            return [name for name in write.get("keyPattern", {}) if name != "deleted"]
    return None
