"""What can go wrong with the database, as its callers see it: the drivers' own errors end here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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


@contextmanager
def translated() -> Iterator[None]:
    """Raise what PyMongo and Motor raise inside as errors of this file."""
    try:
        yield
    except (DuplicateKeyError, BulkWriteError) as error:
        fields = _duplicate_fields(error)
        if fields is None:
            raise
        raise DuplicateKey(fields) from error
    except AWAY as error:
        raise DatabaseUnavailable(str(error)) from error
    except OperationFailure as error:
        if error.code in REFUSED_CODES:
            raise DatabaseRefused(str(error)) from error
        if error.code in AWAY_CODES or error.has_error_label("TransientTransactionError"):
            raise DatabaseUnavailable(str(error)) from error
        raise
    except TimeoutError as error:
        raise DatabaseUnavailable("no answer within the time limit") from error
    except PyMongoError as error:
        if error.timeout:
            raise DatabaseUnavailable(str(error)) from error
        raise


def _duplicate_fields(error: OperationFailure) -> list[str] | None:
    details = error.details or {}
    for write in [details, *details.get("writeErrors", ())]:
        if write.get("code") == 11000:
            return [name for name in write.get("keyPattern", {}) if name != "deleted"]
    return None
