"""`Service`: everything that one process shares, put together once at start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from config.settings import EnvironmentSettings, Settings
from config.time_limits import TimeLimit
from handlers.data.database import Database
from handlers.events import Events

ReadinessCheck = Callable[[], Awaitable[None]]
Part = TypeVar("Part")
AnySettings = TypeVar("AnySettings", bound=EnvironmentSettings)


@dataclass
class Service:
    """One running process: settings, database, events, and the parts that plugins provide.

    `demo_password` answers the password of a demo account. `say` tells the person at the terminal something once; it is not a log.
    """

    settings: Settings
    database: Database
    events: Events = field(default_factory=Events)
    plugin_settings: Mapping[type[EnvironmentSettings], EnvironmentSettings] = field(default_factory=dict)
    parts: dict[type[Any], Any] = field(default_factory=dict)
    readiness: dict[str, ReadinessCheck] = field(default_factory=dict)
    draining: bool = False
    signing_secrets: tuple[str, ...] = ()
    demo_password: Callable[[str], str] = str
    say: Callable[[str], None] = print

    @cached_property
    def request_limit(self) -> TimeLimit:
        """The time that a request may take."""
        return TimeLimit(self.settings.request_seconds)

    def provide(self, kind: type[Any], part: Any) -> None:
        """Offer a running object under its type, or under a port."""
        if kind in self.parts:
            raise ValueError(f"{kind.__name__} is provided twice")
        self.parts[kind] = part

    def part(self, kind: type[Part]) -> Part:
        """The running object that a plugin provided under `kind`."""
        found: Part = self.parts[kind]
        return found

    def ready_when(self, name: str, check: ReadinessCheck) -> None:
        """Make readiness depend on `check`, which raises while what it looks at is out of reach (`storage`, …)."""
        if name in self.readiness:
            raise ValueError(f"the readiness check {name} is declared twice")
        self.readiness[name] = check

    def settings_of(self, kind: type[AnySettings]) -> AnySettings:
        """A plugin's own settings."""
        found = self.plugin_settings[kind]
        if not isinstance(found, kind):
            raise TypeError(kind.__name__)
        return found
