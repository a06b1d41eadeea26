"""Remembers which plugins passed the checks, so that a start repeats them only after the code has changed.

The checks take a tenth of a second of a start. Their result depends only on the declarations, and so on the files of
the loaded modules. A file in the data folder stores it; without a writable data folder every start checks.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_MOST_NOTES = 8  # sets of plugins that one installation may alternate between


class CheckNotes:
    """The sets of plugins that passed the checks, by a digest of the code that was loaded for each."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "checked-plugins"

    def has(self, digest: str) -> bool:
        """Return whether a set with this digest passed the checks before."""
        return digest in self._digests()

    def add(self, digest: str) -> None:
        """Store that a set with this digest passed the checks; do nothing if the file cannot be written."""
        kept = [digest, *(other for other in self._digests() if other != digest)][:_MOST_NOTES]
        fresh = self._path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            fresh.write_text("\n".join(kept))
            fresh.replace(self._path)

    def _digests(self) -> list[str]:
        try:
            return self._path.read_text().split()
        except (OSError, UnicodeDecodeError):
            return []


def digest_of(plugins: Iterable[str]) -> str:
    """Return a digest of these plugins, in their order, and of every source file that this process has loaded."""
    digest = hashlib.sha256(f"{sys.version} {' '.join(plugins)}".encode())
    for line in sorted(_loaded_modules()):
        digest.update(line.encode())
    return digest.hexdigest()


def _loaded_modules() -> Iterator[str]:
    """Yield a line for each loaded module: its name, and the path, time and size of its file."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file:
            with suppress(OSError):
                found = os.stat(file)
                yield f"{name} {file} {found.st_mtime_ns} {found.st_size}\n"
