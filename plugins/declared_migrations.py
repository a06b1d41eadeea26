"""Checks of migrations: that names are in order of time, summaries are sentences, and `stages` takes a service."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from plugins.plugin import Plugin

_NAME = re.compile(r"20\d\d-(0[1-9]|1[0-2])-[a-z0-9]+(-[a-z0-9]+)*")


def migration_problems(plugin: Plugin) -> Iterator[str]:
    """Yield a sentence for each fault in the migrations of a plugin."""
    months: list[str] = []
    for migration in plugin.migrations:
        where = f"Plugin {plugin.name}: migration {migration.name}"
        if not _NAME.fullmatch(migration.name):
            yield f"{where} must be called by its month and its subject, as 2026-11-open-items."
        if not migration.summary.endswith("."):
            yield f"{where} must say what it does, in a sentence."
        try:
            inspect.signature(migration.stages).bind("service")
        except TypeError:
            yield f"{where}: stages must take a service."
        if months and migration.name[:7] < months[-1]:
            yield f"{where} stands behind one of {months[-1]}: new ones come last."
        months.append(migration.name[:7])
