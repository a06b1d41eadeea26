"""`Plugin`: the declaration of a module, with its listeners and jobs. It is a value; making one has no effect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from types import ModuleType

from config.settings import EnvironmentSettings
from handlers.catalogue.declarations import Dictionary, Menu, Option, View
from handlers.catalogue.extending import Extends
from handlers.catalogue.responsibilities import Holding
from handlers.data.collection import Collection
from handlers.data.states import StateMachine
from handlers.events import Event
from handlers.operations.migrations import Migration
from handlers.reports.audits import Audit
from handlers.reports.dashboards import Dashboard
from handlers.route import Refusal, Route
from handlers.schema.errors import ErrorKind
from handlers.schema.messages import Message
from handlers.schema.values import Payload
from handlers.service import Service
from plugins.business.events import Debt
from plugins.records.printing import Printable

API_VERSION = 1  # goes up when a name leaves `plugins.api`, or means something else


@dataclass(frozen=True)
class Listener:
    """Awaits `call(service, payload)` for each `event`, in the transaction of the emitter.

    An error that `call` raises refuses the action that emitted the event. `refusals` are the errors that it may raise;
    a route that emits the event (`events`) gets them in addition to its own. `event` is a value, or the name of a
    transition's event.
    """

    event: Event | str
    call: Callable[[Service, Payload], Awaitable[None]]
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True)
class Job:
    """Awaits `work(service)` periodically, on one instance at a time.

    `every` is a number of seconds, or the name of the plugin's setting that has it. `title` is what administrators see
    in the list of jobs.
    """

    name: str
    every: int | float | str
    work: Callable[[Service], Awaitable[object]]
    title: Message | None = None


@dataclass(frozen=True)
class Plugin:
    """A module of the platform: everything that it contributes, in one place.

    `api` is the version of `plugins.api` that it is written for. `version` is that of the package that contains it; empty
    for built-in ones. `requires`: plugins that must be loaded
    before it. `start`: a context manager around the life of the process, which may `service.provide` parts; `provides`
    names those parts that are ports. `prepare` runs at every start of a process, on one instance at a time,
    and must be repeatable. `demo` loads demonstration data into a new database. `permissions`: titles of actions other
    than list, read, create, update and delete. `options`: settings that administrators change while the service runs;
    `settings`: those of the environment. `dashboards`: its parts of the dashboards that the plugin `dashboard` serves.
    `emits`: the events that it emits, besides those of transitions and those that all plugins know; `listens`: what it
    does on events; `jobs`: what it does periodically. `holdings`: the records that people are responsible for, besides
    those that follow from the owners and keepers of collections. `audits`: the checks of its stored sums; `debts`: what
    its records owe, with which open items are compared. `migrations`: changes of documents that older versions have
    stored, in order. `views`: how pages show records, of the plugin itself or of others. `extends`: own fields on
    collections of plugins that it requires. `prints`: what of it can be printed.
    """

    name: str
    title: Message
    api: int = 1
    version: str = ""
    optional: bool = False
    requires: tuple[str, ...] = ()
    collections: tuple[Collection, ...] = ()
    routes: tuple[Route, ...] = ()
    menus: tuple[Menu, ...] = ()
    errors: tuple[ErrorKind, ...] = ()
    dictionaries: tuple[Dictionary, ...] = ()
    state_machines: tuple[StateMachine, ...] = ()
    biz_types: Mapping[str, Collection] = field(default_factory=dict)
    permissions: Mapping[str, Message] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    dashboards: tuple[Dashboard, ...] = ()
    emits: tuple[Event, ...] = ()
    listens: tuple[Listener, ...] = ()
    jobs: tuple[Job, ...] = ()
    holdings: tuple[Holding, ...] = ()
    audits: tuple[Audit, ...] = ()
    debts: tuple[Debt, ...] = ()
    migrations: tuple[Migration, ...] = ()
    views: tuple[View, ...] = ()
    extends: tuple[Extends, ...] = ()
    prints: tuple[Printable, ...] = ()
    settings: type[EnvironmentSettings] | None = None
    provides: tuple[type, ...] = ()
    start: Callable[[Service], AbstractAsyncContextManager[None]] | None = None
    prepare: Callable[[Service], Awaitable[None]] | None = None
    demo: Callable[[Service], Awaitable[None]] | None = None


def routes_of(*modules: ModuleType) -> tuple[Route, ...]:
    """Return the `ROUTES` of these modules of a plugin, in this order."""
    return tuple(route for module in modules for route in module.ROUTES)
