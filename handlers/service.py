"""`Service`: everything that one process shares, put together once at start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from config.settings import EnvironmentSettings, Settings
from config.time_limits import TimeLimit
from handlers.conversion import decode
from handlers.dashboards import Dashboard
from handlers.data.collection import Collection
from handlers.data.dangling import remove_dangling
from handlers.data.database import Database
from handlers.errors import ErrorKind
from handlers.events import Events
from handlers.messages import Message
from handlers.route import Route
from handlers.schema import Field
from handlers.validation import Checker

ReadinessCheck = Callable[[], Awaitable[None]]
Part = TypeVar("Part")
AnySettings = TypeVar("AnySettings", bound=EnvironmentSettings)


@dataclass(frozen=True)
class Item:
    """One entry of a dictionary: the value on the wire, its label, and a colour for tags."""

    value: str
    label: Message
    color: str = ""


@dataclass(frozen=True)
class Dictionary:
    """An enumeration that clients show: its type, title and items."""

    type: str
    title: Message
    items: tuple[Item, ...]


@dataclass(frozen=True)
class StateMachine:
    """The states of a record and what leads from one to the next: action → (from, to)."""

    name: str
    initial: str
    states: Mapping[str, Message]
    transitions: Mapping[str, tuple[tuple[str, ...], str]]


@dataclass(frozen=True)
class Menu:
    """A page of the front ends, and the buttons of the resource that it shows.

    `resource` such as `acme:agreement` gathers every permission of that prefix as buttons. `parent` is the code of
    another menu. Without `resource` it is a directory, with `link` a link.
    """

    code: str
    title: Message
    path: str = ""
    icon: str = ""
    parent: str = ""
    resource: str = ""
    component: str = ""
    order: int = 0
    hidden: bool = False
    link: str = ""


@dataclass(frozen=True)
class Option:
    """A setting that administrators change while the service runs.

    `field` is its shape, with the default. `public`: told to everybody, before log-in too. `super_only`: it widens
    what people may do, so only super administrators change it.
    """

    key: str
    field: Field
    description: Message
    public: bool = False
    super_only: bool = False

    @cached_property
    def check(self) -> Checker:
        """The compiled check of a value."""
        return Checker(self.field)

    @cached_property
    def default(self) -> Any:
        """The value while nobody has set one."""
        return decode(self.field, self.field.default)


@dataclass(frozen=True)
class Catalogue:
    """What all loaded plugins declare together, checked and in order."""

    plugins: tuple[str, ...] = ()
    routes: tuple[Route, ...] = ()
    collections: Mapping[str, Collection] = field(default_factory=dict)
    menus: tuple[Menu, ...] = ()
    errors: tuple[ErrorKind, ...] = ()
    dictionaries: tuple[Dictionary, ...] = ()
    state_machines: tuple[StateMachine, ...] = ()
    biz_types: Mapping[str, Collection] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    dashboards: tuple[Dashboard, ...] = ()
    permission_titles: Mapping[str, Message] = field(default_factory=dict)

    def collections_of(self, modules: Sequence[str]) -> Iterator[Collection]:
        """The collections that these plugins declare."""
        for name, collection in self.collections.items():
            # the longest name, so that `crm_plus_…` is not taken for a collection of `crm`
            owner = max((plugin for plugin in self.plugins if name.startswith(f"{plugin}_")), key=len, default="core")
            if owner in modules:
                yield collection

    @property
    def permissions(self) -> tuple[str, ...]:
        """Every permission code, sorted."""
        return tuple(sorted({route.access for route in self.routes if route.guarded}))


@dataclass
class Service:
    """One running process: settings, catalogue, database, events, and the parts that plugins provide.

    `demo_password` answers the password of a demo account. `say` tells the person at the terminal something once; it is not a log.
    """

    settings: Settings
    catalogue: Catalogue
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

    async def remove_dangling(self, emptied: Iterable[str]) -> Mapping[str, int]:
        """`remove_dangling` for all that the loaded plugins declare."""
        return await remove_dangling(self.database, self.catalogue.biz_types, emptied)

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
