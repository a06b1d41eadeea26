"""What a start loads before it needs a database, and what servers that are forked share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from config.process import exempt_what_exists
from config.settings import Settings
from handlers.catalogue.declarations import Catalogue
from handlers.data.lists.normalizing import pinyin
from plugins.boot.check_cache import CheckNotes, digest_of
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import catalogue_of
from plugins.plugin import Plugin


@dataclass(frozen=True)
class Loaded:
    """The plugins of the settings, and their catalogue. `backup`: the arguments of Python for scheduled backups."""

    settings: Settings
    plugins: Sequence[Plugin]
    catalogue: Catalogue
    backup: Sequence[str]


def load(settings: Settings, backup: Sequence[str]) -> Loaded:
    """Load the plugins of the settings. Raises `RegistryError`.

    They are checked unless an earlier start with the same code did so.
    """
    plugins = load_plugins(settings.plugins)
    notes, digest = CheckNotes(settings.data_dir), digest_of(plugin.name for plugin in plugins)
    known = notes.has(digest)
    catalogue = catalogue_of(settings, plugins, check=not known)
    if not known:
        notes.add(digest)
    settle()
    return Loaded(settings, plugins, catalogue, backup)


def settle() -> None:
    """Load dictionaries while no request has to wait for them, and exempt what exists from garbage collections."""
    pinyin("")
    exempt_what_exists()
