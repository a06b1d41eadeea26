"""What an error of MongoDB means to a caller: the database is away, or the command has a fault."""

from collections.abc import Iterable

import pytest
from pymongo.errors import BulkWriteError, OperationFailure, WriteConcernError, WriteError

from config.database import AWAY_CODES, DatabaseUnavailable, translate_errors

NOBODY_KNOWS = (64, 79, 100, 12345)  # whether the write is durable
FAULTS = (2, 9, 17, 40, 66, 72)


def translated(errors: Iterable[OperationFailure]) -> dict[str, type[BaseException]]:
    """What becomes of each error."""
    found: dict[str, type[BaseException]] = {}
    for error in errors:
        with pytest.raises((DatabaseUnavailable, OperationFailure)) as raised, translate_errors:
            raise error
        found[f"{error!r} {error.code}"] = raised.type
    return found


def bulk(**details: object) -> BulkWriteError:
    return BulkWriteError({"writeErrors": [], "nInserted": 1, **details})


def test_a_state_of_the_server_is_no_fault_of_a_command() -> None:
    kinds = (OperationFailure, WriteConcernError, WriteError)
    found = translated(kind("state", code) for code in AWAY_CODES for kind in kinds)
    found |= translated([bulk(writeErrors=[{"index": 1, "code": 11602, "errmsg": "state"}])])
    assert len(found) == len(kinds) * len(AWAY_CODES) + 1
    assert {error: kind for error, kind in found.items() if kind is not DatabaseUnavailable} == {}


def test_a_write_that_nobody_knows_to_be_durable_is_no_fault_of_a_command() -> None:
    waiting = [bulk(writeConcernErrors=[{"code": code, "errmsg": "waiting"}]) for code in NOBODY_KNOWS]
    found = translated([*waiting, *(WriteConcernError("waiting", code) for code in NOBODY_KNOWS)])
    assert {error: kind for error, kind in found.items() if kind is not DatabaseUnavailable} == {}


def test_a_fault_of_a_command_stays_one() -> None:
    found = translated(OperationFailure("fault", code) for code in FAULTS)
    assert {error: kind for error, kind in found.items() if kind is not OperationFailure} == {}
