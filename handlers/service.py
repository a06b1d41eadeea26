"""`Service`: everything that is shared within one process, assembled once at start, and the parts that plugins provide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from config.settings import EnvironmentSettings, Settings
from config.time_limits import TimeLimit
from handlers.access.actor import ANONYMOUS
from handlers.data.database import Database
from handlers.data.visible.delegated_access import JointPasses, Passage, Passes
from handlers.events import Events

Part = TypeVar("Part")
Source = TypeVar("Source")


class Port:
    """A question that may be answered by a plugin which need not be loaded: each method is a call with a typed result.

    What the methods of a port itself return is the answer without such a plugin. The plugin that answers provides an
    instance of a subclass under the port.
    """


class Parts(dict[type, Any]):
    """The running objects: each is an instance of its key. Raises KeyError for what no loaded plugin provides.

    A `Port` that none provides answers for itself.
    `Request.part` returns one of them; the lifecycle reads seven in each request, and saves the calls.
    """

    def __missing__(self, kind: type[Part]) -> Part:
        if issubclass(kind, Port):
            return kind()
        raise KeyError(kind)

    if TYPE_CHECKING:  # at run time it is the method of `dict`, which is written in C

        def __getitem__(self, kind: type[Part], /) -> Part:
            """Return the object that is registered under `kind`."""


ReadinessCheck = Callable[[], Awaitable[None]]
PluginSettings = TypeVar("PluginSettings", bound=EnvironmentSettings)


class StartError(Exception):
    """The service cannot start; the message is one line that says why, and what to do."""


@dataclass
class Service:
    """One running process: settings, database, events, and the parts that the core and plugins provide.

    `demo_password` returns the password of a demo account. `say` prints a line for the person at the terminal; it is
    not a log. `request_limit` is the time that a request may take. `draining`: the process is stopping; `replaced`:
    another one has taken its place on the same sockets.
    """

    settings: Settings
    database: Database
    events: Events = field(default_factory=Events)
    plugin_settings: Mapping[type[EnvironmentSettings], EnvironmentSettings] = field(default_factory=dict)
    parts: Parts = field(default_factory=Parts)
    readiness: dict[str, ReadinessCheck] = field(default_factory=dict)
    draining: bool = False
    replaced: bool = False
    signing_secrets: tuple[str, ...] = ()
    demo_password: Callable[[str], str] = str
    say: Callable[[str], None] = print

    # no cached properties: they would move the attributes to a dictionary, from which Python reads them more slowly
    def __post_init__(self) -> None:
        self.request_limit = TimeLimit(self.settings.request_seconds)
        self._passed_collections: frozenset[str] | None = None
        self._derived: dict[type, Callable[[Any], object]] = {}

    @property
    def passed_collections(self) -> frozenset[str]:
        """The names of the collections whose records a pass can admit; not to be read before all plugins started."""
        if self._passed_collections is None:
            self._passed_collections = self._find_passed_collections()
        return self._passed_collections

    def _find_passed_collections(self) -> frozenset[str]:
        passes: Passes | None = self.parts.get(Passes)
        if passes is None:
            return frozenset()
        delegated = Passage(passes, ANONYMOUS, self.database.parents)
        return frozenset(one.name for one in self.database.collections.values() if delegated.concerns(one))

    def provide(self, kind: type[Part], part: Part) -> None:
        """Register a running object under its type, or under a port. Several may be registered as `Passes`."""
        known: Any = self.parts.get(kind)
        if known is not None and kind is not Passes:
            raise ValueError(f"{kind.__name__} is provided twice")
        self.parts[kind] = part if known is None else JointPasses((known, cast(Passes, part)))

    def derive(self, kind: type[Part], make: Callable[[Source], Part], catalogue: Source) -> None:
        """Register what `make` returns for the catalogue; it is made again whenever the catalogue changes."""
        self.provide(kind, make(catalogue))
        self._derived[kind] = make

    def derived_from(self, catalogue: object) -> Mapping[type, object]:
        """Return the catalogue and what is derived from it, to be put into `parts`: takes tens of milliseconds."""
        return {type(catalogue): catalogue, **{kind: make(catalogue) for kind, make in self._derived.items()}}

    def part(self, kind: type[Part]) -> Part:
        """Return the running object that is registered under `kind`."""
        return self.parts[kind]

    def ready_when(self, name: str, check: ReadinessCheck) -> None:
        """Make readiness depend on `check`, which raises while the resource `name` (`storage`, …) is unreachable."""
        if name in self.readiness:
            raise ValueError(f"the readiness check {name} is declared twice")
        self.readiness[name] = check

    def settings_of(self, kind: type[PluginSettings]) -> PluginSettings:
        """Return the settings of a plugin."""
        found = self.plugin_settings[kind]
        if not isinstance(found, kind):
            raise TypeError(kind.__name__)
        return found
