"""Finds the `mongod` program."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from config.embedded.diagnosis import EmbeddedError


def find_mongod() -> Path:
    """Return the `mongod` of the package fiftyone-db, or the one on the PATH. Raises EmbeddedError if there is none."""
    for candidate in (*_packaged_binaries(), shutil.which("mongod")):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    raise EmbeddedError(
        "No mongod here: run `pip install -e '.[embedded]'`, or set TRADEWIND_MONGODB_URI to a MongoDB of your own."
    )


def _packaged_binaries() -> list[str]:
    # Only the folder is looked up: importing fiftyone itself would take seconds.
    spec = importlib.util.find_spec("fiftyone")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    return [str(Path(folder, "db", "bin", "mongod")) for folder in folders]
