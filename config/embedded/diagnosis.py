"""Explains why `mongod` ended, in one line that says what to do."""

from __future__ import annotations

import errno
import json
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DISK_ALMOST_FULL_BYTES = 1 << 20

# Exit codes: src/mongo/util/exit_code.h
NEEDS_ANOTHER_VERSION = 62
CANNOT_USE_FOLDER = 100

MISSING_LIBRARY = re.compile(r"error while loading shared libraries: ([^:\s]+):|Library not loaded: (\S+)")
OLD_C_LIBRARY = re.compile(r"version `(GLIBC\w*_[\d.]+)' not found")
DATABASE_FILE = re.compile(r"(?<![\w-])(?:journal/)?[\w-]++\.(?:wt|turtle|bson|lock)\b|journal/WiredTigerLog\.\d+")
OTHER_VERSION = (
    "Wrong mongod version",
    "unsupported WiredTiger file version",
    "Version incompatibility detected",
)
NOT_WRITABLE = (
    "read-only directory",
    "Permission denied",
    "Read-only file system",
    "Operation not permitted",
)
DAMAGE = (
    "is corrupted",
    "data corruption",
    "database corruption",
    "does not appear to be a WiredTiger file",
    "Unable to read the storage engine metadata file",
    "Failed to open a WiredTiger cursor",
    "__posix_open_file",
    "WT_PANIC",
    "checksum error",
)


class EmbeddedError(Exception):
    """The embedded MongoDB cannot be used; the text is one line for the person at the terminal."""


@dataclass(frozen=True)
class Ending:
    """How a `mongod` ended: its exit code (a signal if negative), what it printed, and its log since the start."""

    code: int
    printed: str
    log: str
    database: Path
    log_file: Path


def explain(ending: Ending) -> str:
    """Return one line that says what stopped `mongod` and what to do about it."""
    for rule in (_disk, _program, _folder, _version, _damage, _signal):
        if line := rule(ending):
            return line
    reason = next(iter(_complaints(ending.log)), "") or ending.printed.strip().rpartition("\n")[2]
    return f"mongod ended with code {ending.code}: {reason or 'it gave no reason'}. Its log is {ending.log_file}."


def explain_os_error(error: OSError, path: Path) -> str:
    """Return one line for an error of the operating system in the data folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _disk_full(path)
    return f"Cannot use the data folder {path} ({error.strerror}): make it writable, or set TRADEWIND_DATA_DIR."


def _disk_full(path: Path) -> str:
    return f"The disk that holds {path} is full: free some space, then start again; nothing stored is lost."


def _disk(ending: Ending) -> str | None:
    reported = "No space left on device" in ending.log + ending.printed
    if reported or shutil.disk_usage(ending.database).free < DISK_ALMOST_FULL_BYTES:
        return _disk_full(ending.database)
    return None


def _program(ending: Ending) -> str | None:
    if found := OLD_C_LIBRARY.search(ending.printed):
        return f"This system is too old for this mongod ({found[1]} is missing): set TRADEWIND_MONGODB_URI instead."
    if not (found := MISSING_LIBRARY.search(ending.printed)):
        return None
    library = found[1] or found[2]
    if library.startswith("libcurl.so.4"):
        return "mongod needs the library libcurl4: run `apt-get install libcurl4` (as root), then start again."
    return f"mongod needs the library {library}: install the package that has it, or set TRADEWIND_MONGODB_URI."


def _folder(ending: Ending) -> str | None:
    if ending.code == CANNOT_USE_FOLDER and "DBPathInUse" in ending.log:
        return f"Another mongod{_holder(ending.database)} uses {ending.database}: stop it, then start again."
    if any(text in complaint for complaint in _complaints(ending.log) for text in NOT_WRITABLE):
        return f"mongod may not write in {ending.database}: give the folder to the user who runs the server."
    return None


def _holder(database: Path) -> str:
    try:
        return f" (process {int((database / 'mongod.lock').read_text())})"
    except (OSError, ValueError):
        return ""


def _version(ending: Ending) -> str | None:
    if ending.code == NEEDS_ANOTHER_VERSION or any(text in ending.log for text in OTHER_VERSION):
        return (
            f"The data in {ending.database} are of another MongoDB version than this mongod: "
            "start the mongod that wrote them and set TRADEWIND_MONGODB_URI, or move the folder away to start empty."
        )
    return None


def _damage(ending: Ending) -> str | None:
    for complaint in _complaints(ending.log):
        if any(text in complaint for text in DAMAGE):
            found = DATABASE_FILE.search(complaint)
            damaged = ending.database / found[0] if found else ending.database
            return (
                f"The database file {damaged} is damaged or missing: restore {ending.database} from a backup, "
                "or move it away to start empty."
            )
    return None


def _signal(ending: Ending) -> str | None:
    if ending.code == -signal.SIGILL:
        return "This processor lacks what mongod needs (AVX): set TRADEWIND_MONGODB_URI to a MongoDB elsewhere."
    if ending.code == -signal.SIGKILL:
        return f"mongod was killed, perhaps for want of memory (see `dmesg`); its log is {ending.log_file}."
    return None


def _complaints(log: str) -> Iterator[str]:
    """Yield the text of each error and fatal line of a `mongod` log, oldest first."""
    for line in log.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry.get("s") in ("E", "F"):
            yield f"{entry.get('msg', '').strip()} {json.dumps(entry['attr']) if entry.get('attr') else ''}".strip()
