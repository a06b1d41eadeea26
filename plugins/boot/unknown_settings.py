"""Finds variables `TRADEWIND_…` that are not settings, so that a misspelt one is reported and not ignored."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from config.settings import EnvironmentSettings, Settings
from plugins.boot.registry import RegistryError, built_in_names, load_plugins
from plugins.plugin import Plugin

_PREFIX = str(EnvironmentSettings.model_config["env_prefix"]).lower()
# scripts and tests read these; the service does not
_OTHERS = frozenset({"venv", "url", "username", "password", "northwind"})
_OF_TESTS = "test_"


def unknown_settings(plugins: Sequence[Plugin]) -> Mapping[str, str]:
    """Return advice for each variable of the environment and of `.env` that is not a setting, by its name."""
    known = _names(plugins)
    given = {name.removeprefix(_PREFIX): variable for name, variable in _given_variables().items()}
    unknown = {name: variable for name, variable in given.items() if name not in known and not _is_of_scripts(name)}
    if unknown:  # it may belong to a plugin that is not loaded; loading them takes a moment
        known |= _names(_built_in())
    return {variable: _advice(name, known) for name, variable in unknown.items() if name not in known}


def _given_variables() -> dict[str, str]:
    """Return every variable with our prefix, by its name in lower case, because settings ignore case."""
    variables = [*os.environ, *_in_file(Path(str(EnvironmentSettings.model_config["env_file"])))]
    return {variable.lower(): variable for variable in variables if variable.lower().startswith(_PREFIX)}


def _in_file(file: Path) -> Iterable[str]:
    if not file.is_file():
        return ()
    from dotenv import dotenv_values  # the library that reads the settings of the file

    return dotenv_values(file)


def _names(plugins: Sequence[Plugin]) -> set[str]:
    kinds: list[type[EnvironmentSettings]] = [
        Settings,
        *(plugin.settings for plugin in plugins if plugin.settings is not None),
    ]
    return {name for kind in kinds for name in kind.model_fields}


def _built_in() -> Sequence[Plugin]:
    try:
        return load_plugins(built_in_names())
    except RegistryError:
        return ()


def _is_of_scripts(name: str) -> bool:
    return name in _OTHERS or name.startswith(_OF_TESTS)


def _advice(name: str, known: set[str]) -> str:
    from difflib import get_close_matches  # late: seldom needed

    nearest = get_close_matches(name, sorted(known), n=1)
    meant = f"; did you mean {(_PREFIX + nearest[0]).upper()}?" if nearest else ""
    return f"is no setting and does nothing{meant}"
