"""Variables called `TRADEWIND_…` that no setting is called: a misspelt one is told, not dropped in silence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from config.settings import EnvironmentSettings, Settings
from plugins.plugin import Plugin
from plugins.registry import RegistryError, built_in_names, load_plugins

_PREFIX = str(EnvironmentSettings.model_config["env_prefix"]).lower()
# read by scripts and by tests, which are no part of the service
_OTHERS = frozenset({"venv", "url", "username", "password", "northwind"})
_OF_TESTS = "test_"


def unknown_settings(plugins: Sequence[Plugin]) -> Mapping[str, str]:
    """Variable → what to do about it, for each of the environment and of `.env` that no setting is called."""
    known = _names(plugins)
    strange = {given.removeprefix(_PREFIX): variable for given, variable in _given().items()}
    strange = {name: variable for name, variable in strange.items() if name not in known and not _is_of_scripts(name)}
    if strange:  # perhaps it belongs to a plugin that is switched off; loading them takes a moment
        known |= _names(_built_in())
    return {variable: _advice(name, known) for name, variable in strange.items() if name not in known}


def _given() -> dict[str, str]:
    """Every variable with our prefix, by its name in small letters: capitals do not matter."""
    variables = [*os.environ, *_in_file(Path(str(EnvironmentSettings.model_config["env_file"])))]
    return {variable.lower(): variable for variable in variables if variable.lower().startswith(_PREFIX)}


def _in_file(file: Path) -> Iterable[str]:
    if not file.is_file():
        return ()
    from dotenv import dotenv_values  # what reads the settings of the file

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
    from difflib import get_close_matches  # seldom needed

    nearest = get_close_matches(name, sorted(known), n=1)
    meant = f"; did you mean {(_PREFIX + nearest[0]).upper()}?" if nearest else ""
    return f"is no setting and does nothing{meant}"
