"""Checks of audits, debts and migrations: what goes through the records that are stored already."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial

from plugins.plugin import Plugin

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def audit_problems(plugin: Plugin) -> Iterator[str]:
    """Yield a sentence for each fault in the audits and debts of a plugin."""
    for audit in plugin.audits:
        where = f"Plugin {plugin.name}: audit {audit.name}"
        if not _NAME.fullmatch(audit.name) or not audit.name.startswith(f"{plugin.name.replace('_', '-')}-"):
            yield f"{where} must be called {plugin.name.replace('_', '-')}-…, in small letters, digits and hyphens."
        if not (audit.title.zh and audit.title.en):
            yield f"{where} has no title in Chinese and English."
        if audit.collection not in plugin.collections:
            yield f"{where} is of {audit.collection.name}, a collection that the plugin does not declare."
        if not inspect.isasyncgenfunction(_called(audit.check)):
            yield f"{where}: check is no async generator function."
        yield from _parameter_problems(f"{where}: check", audit.check)
    for debt in plugin.debts:
        where = f"Plugin {plugin.name}: debt of {debt.biz_type}"
        if debt.biz_type not in plugin.biz_types:
            yield f"{where} is of a business type that the plugin does not declare."
        if not inspect.iscoroutinefunction(_called(debt.compute)):
            yield f"{where}: compute is no async function."
        yield from _parameter_problems(f"{where}: compute", debt.compute)


def _called(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function behind a `partial` or decorators."""
    called: Callable[..., object] = inspect.unwrap(function.func if isinstance(function, partial) else function)
    return called


def _parameter_problems(where: str, function: Callable[..., object]) -> Iterator[str]:
    try:
        inspect.signature(function).bind("piece")
    except TypeError:
        yield f"{where} must take a piece."


_MIGRATION = re.compile(r"20\d\d-(0[1-9]|1[0-2])-[a-z0-9]+(-[a-z0-9]+)*")


def migration_problems(plugin: Plugin) -> Iterator[str]:
    """Yield a sentence for each fault in the migrations of a plugin."""
    months: list[str] = []
    for migration in plugin.migrations:
        where = f"Plugin {plugin.name}: migration {migration.name}"
        if not _MIGRATION.fullmatch(migration.name):
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
