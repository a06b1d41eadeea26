"""The errors of the database that callers see, and the translation of the libraries' errors into them."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from bson.errors import InvalidBSON
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConnectionFailure,
    DuplicateKeyError,
    ExecutionTimeout,
    NetworkTimeout,
    OperationFailure,
    ProtocolError,
    PyMongoError,
    ServerSelectionTimeoutError,
    WriteConcernError,
)

AWAY = (
    AutoReconnect,
    ConnectionFailure,
    NetworkTimeout,
    ServerSelectionTimeoutError,
    ExecutionTimeout,
    WriteConcernError,  # the write was made, but it is unknown whether it stays
    ProtocolError,
    InvalidBSON,
)
# states of the server, no faults of a command: a later attempt may succeed; src/mongo/base/error_codes.yml
_STATES = {
    6: "HostUnreachable",
    7: "HostNotFound",
    24: "LockTimeout",
    43: "CursorNotFound",
    46: "LockBusy",
    50: "MaxTimeMSExpired",
    64: "WriteConcernTimeout",
    89: "NetworkTimeout",
    91: "ShutdownInProgress",
    100: "UnsatisfiableWriteConcern",
    112: "WriteConflict",
    134: "ReadConcernMajorityNotAvailableYet",
    175: "QueryPlanKilled",  # its index was dropped
    189: "PrimarySteppedDown",
    202: "NetworkInterfaceExceededTimeLimit",
    206: "NoSuchSession",
    216: "ElectionInProgress",
    225: "TransactionTooOld",
    237: "CursorKilled",
    239: "SnapshotTooOld",
    246: "SnapshotUnavailable",
    251: "NoSuchTransaction",
    261: "TooManyLogicalSessions",
    262: "ExceededTimeLimit",
    264: "TooManyFilesOpen",
    267: "PreparedTransactionInProgress",
    279: "ClientDisconnect",
    290: "TransactionExceededLifetimeLimitSeconds",
    355: "InterruptedDueToStorageChange",
    365: "TemporarilyUnavailable",
    371: "UserWritesBlocked",
    402: "ResourceExhausted",
    407: "PooledConnectionAcquisitionExceededTimeLimit",
    433: "AdmissionQueueOverflow",
    449: "RateLimitExceeded",
    9001: "SocketException",
    10058: "LegacyNotPrimary",
    10107: "NotWritablePrimary",
    11600: "InterruptedAtShutdown",
    11601: "Interrupted",
    11602: "InterruptedDueToReplStateChange",
    13388: "StaleConfig",  # a router of a sharded cluster that was asked while chunks moved
    13435: "NotPrimaryNoSecondaryOk",
    13436: "NotPrimaryOrSecondary",
    14031: "OutOfDiskSpace",
}
AWAY_CODES = frozenset(_STATES)
# a read that fails with one of these is repeated once: those of PyMongo's retryable reads, and dropped indexes
REPEATED_CODES = frozenset({6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436, 43, 175, 237, 246})
_AWAY_LABELS = ("TransientTransactionError", "RetryableWriteError", "RetryableError", "SystemOverloadedError")
_TRIED_TOO_OFTEN = "int too large to convert to float"  # from PyMongo's back-off, after 1,024 refusals of one command
BAD_VALUE, BAD_HINT = 2, "hint provided does not correspond"
REFUSED_CODES = frozenset({13, 18})  # Unauthorized, AuthenticationFailed: src/mongo/base/error_codes.yml


class DatabaseUnavailable(Exception):
    """The database did not reply within the time limit, or cannot be reached; `silent` if there was no reply at all."""

    def __init__(self, message: str, *, silent: bool = False) -> None:
        super().__init__(message)
        self.silent = silent


class DatabaseRefused(DatabaseUnavailable):
    """The database refuses our user or password, or the user lacks a right."""


class DuplicateKey(Exception):
    """A unique key is taken; `fields` are the fields of the index."""

    expected = True  # not a failure of the database

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__(", ".join(fields))
        self.fields = tuple(fields)


class NoSuchIndex(Exception):
    """The index that a query names does not exist: another version of the service has changed the indexes."""


class _ErrorTranslator:
    """`with translate_errors: …` turns exceptions of PyMongo and Motor into those of this file."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        translated = translate(error) if error is not None else None
        if translated is not None:
            raise translated from error


translate_errors = _ErrorTranslator()


def translate(error: BaseException) -> Exception | None:
    """Return the exception that callers see instead of `error`; None if they see `error` itself."""
    if isinstance(error, DuplicateKeyError | BulkWriteError):
        fields = _duplicate_fields(error)
        if fields is not None:
            return DuplicateKey(fields)
        return DatabaseUnavailable(str(error)) if _is_bulk_undone(error) else None
    if isinstance(error, AWAY):
        return DatabaseUnavailable(str(error))
    if isinstance(error, OperationFailure):
        if error.code in REFUSED_CODES:
            return DatabaseRefused(str(error))
        if error.code == BAD_VALUE and BAD_HINT in str(error):
            return NoSuchIndex(str(error))
        away = error.code in AWAY_CODES or any(map(error.has_error_label, _AWAY_LABELS))
        return DatabaseUnavailable(str(error)) if away else None
    if isinstance(error, TimeoutError):
        return DatabaseUnavailable("no reply within the time limit")
    if isinstance(error, OverflowError) and str(error) == _TRIED_TOO_OFTEN:
        return DatabaseUnavailable("the database refuses a command again and again")
    return DatabaseUnavailable(str(error)) if isinstance(error, PyMongoError) and error.timeout else None


def _is_bulk_undone(error: OperationFailure) -> bool:
    """Return whether the server's state kept it from executing some of several writes, or from making them durable."""
    details = error.details or {}
    codes = {fault.get("code") for fault in details.get("writeErrors", ())}
    return bool(details.get("writeConcernErrors")) or not AWAY_CODES.isdisjoint(codes)


def _duplicate_fields(error: OperationFailure) -> list[str] | None:
    details = error.details or {}
    for write in [details, *details.get("writeErrors", ())]:
        if write.get("code") == 11000:
            return [name for name in write.get("keyPattern", {}) if name != "deleted"]
    return None
