"""What both commands share: exit codes, signals, and the address of the database."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from config.database import DatabaseUnavailable
from config.database.raw_documents import SnapshotLost
from config.embedded import EmbeddedError, acquire
from config.embedded.folder import Folder
from config.embedded.replica_set import snapshot_history
from config.settings import Settings
from plugins.boot.connect import check_connection
from plugins.boot.listen import StartError
from plugins.boot.registry import RegistryError
from plugins.commands.backups.progress import BackupError

DONE, FAILED, UNREACHABLE, INTERRUPTED = 0, 1, 2, 130
BY_MONGODB = "is left to the tools of MongoDB, which restore any moment: see docs/how-to/backup.md."
EXIT_CODES = "exit codes: 0 done; 1 not done, for the reason that is printed; 2 settings or database; 130 interrupted"


def exit_code_of(name: str, work: Callable[[], int]) -> int:
    """Run `work` and return its exit code; a failure is one line on standard error and an exit code."""
    try:
        return work()
    except ValidationError as error:
        return _fail(name, "; ".join(map(_fault, error.errors())), UNREACHABLE)
    except (EmbeddedError, RegistryError, StartError, ValueError) as error:
        return _fail(name, str(error), UNREACHABLE)
    except DatabaseUnavailable as error:
        return _fail(name, f"MongoDB refuses or does not respond: {error}", UNREACHABLE)
    except (BackupError, SnapshotLost) as error:
        return _fail(name, str(error), FAILED)
    except OSError as error:
        return _fail(name, f"{error.filename or 'The backup'}: {error.strerror}", FAILED)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return _fail(name, "interrupted; what was begun is removed", INTERRUPTED)


def _fault(fault: Any) -> str:
    setting = "_".join(map(str, fault["loc"])).upper()
    return f"{f'TRADEWIND_{setting}: ' if setting else ''}{fault['msg'].removeprefix('Value error, ')}"


def _fail(name: str, sentence: str, code: int) -> int:
    print(f"{name}: {sentence}", file=sys.stderr)
    return code


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run `work`; SIGTERM interrupts it as Ctrl-C does, so that it can clean up."""

    async def interruptible() -> Any:
        task = asyncio.ensure_future(work)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await task

    return asyncio.run(interruptible())


@contextmanager
def read_from(settings: Settings) -> Iterator[str]:
    """Give the block the address of the database, which is never created, and keep its history while the block runs."""
    uri = settings.mongodb_uri.get_secret_value()
    if uri:
        asyncio.run(check_connection(settings, uri))
        yield uri
    elif not Folder(settings.data_dir).database.exists():
        raise EmbeddedError(f"there is no database in {settings.data_dir}")
    else:
        with _embedded(settings) as uri, snapshot_history(settings.data_dir):
            yield uri


@contextmanager
def written_to(settings: Settings) -> Iterator[str]:
    """Give the block the address of the MongoDB to restore into; the embedded one is created if there is none."""
    uri = settings.mongodb_uri.get_secret_value()
    if uri:
        asyncio.run(check_connection(settings, uri))
        yield uri
    else:
        with _embedded(settings) as uri:
            yield uri


@contextmanager
def _embedded(settings: Settings) -> Iterator[str]:
    embedded = acquire(settings.data_dir)  # the embedded one has rights on databases of any name
    try:
        yield embedded.uri
    finally:
        embedded.release_and_wait(15)
