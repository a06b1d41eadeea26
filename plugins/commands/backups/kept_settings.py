"""The settings that a backup keeps: those that were set, by the names of their variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from config.settings import EnvironmentSettings, Settings
from plugins.plugin import Plugin

_NEVER = frozenset({"backup_key"})  # a backup must not hold its own key


def kept_settings(settings: Settings, plugins: Sequence[Plugin], with_secrets: bool) -> dict[str, str]:
    """Return the settings of the core and of the plugins that were set; secrets are included only if `with_secrets`."""
    kinds: list[Any] = [plugin.settings for plugin in plugins if plugin.settings is not None]
    found: dict[str, str] = {}
    for one in [settings, *(kind() for kind in kinds)]:
        found |= _changed(one, with_secrets)
    return dict(sorted(found.items()))


def _changed(settings: EnvironmentSettings, with_secrets: bool) -> dict[str, str]:
    names = settings.model_fields_set - _NEVER
    return settings.variables(name for name in names if with_secrets or not _is_secret(getattr(settings, name)))


def _is_secret(value: object) -> bool:
    parts = value if isinstance(value, tuple) else (value,)
    return any(isinstance(part, SecretStr) for part in parts)


def as_environment(values: Mapping[str, str]) -> str:
    """Return the settings as the content of an `.env` file."""
    return "".join(f"{name}={_quoted(value)}\n" for name, value in values.items())


def parse_settings(text: str) -> dict[str, str]:
    """Return the settings that `as_environment` wrote."""
    from dotenv import dotenv_values  # the library that reads the settings of the file

    return {name: value or "" for name, value in dotenv_values(stream=StringIO(text), interpolate=False).items()}


def write_settings(path: Path, values: Mapping[str, str]) -> None:
    """Write the settings to a new `.env` file that only its owner can read. Raises `OSError`."""
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(as_environment(values))


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
