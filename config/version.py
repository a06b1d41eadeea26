"""The version of Tradewind, stated once, in `pyproject.toml`."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

_PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def read_version() -> str:
    """Return the version of the checkout or image that runs, or else of the installed distribution."""
    if _PROJECT.is_file():
        return str(tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]["version"])
    return version("tradewind")


VERSION = read_version()
