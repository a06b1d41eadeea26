"""`Request`: what a handler function receives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Protocol, TypeVar, cast, overload

from handlers.access.actor import ANONYMOUS, Actor
from handlers.catalogue.dictionaries import Dictionaries
from handlers.data.collection import Collection
from handlers.data.database import utc_now
from handlers.data.references.record_names import RecordNames
from handlers.data.store import Store
from handlers.data.visible.delegated_access import Passage, Passes
from handlers.data.visible.delegated_store import DelegatedStore
from handlers.data.visible.scope import ALL_ROWS, Scope
from handlers.events import Event
from handlers.http.streams import BodyStream
from handlers.schema.calendar import day_of
from handlers.schema.errors import FieldError, ValidationFailed
from handlers.schema.fields import Field
from handlers.schema.messages import Language
from handlers.schema.naming import Names
from handlers.schema.validation import (
    MAX_ERRORS,
    Checker,
    QueryChecker,
    bound_fields,
    digit_faults,
    future_faults,
    may_have_digit_faults,
    parse_json,
)
from handlers.schema.values import Body, Json, Query, ReadOnlyRecord, Record, RecordId, Typed
from handlers.service import Part, Service

Result = TypeVar("Result")
NO_SCOPE = Scope()


class Endpoint(Protocol):
    """The part of `Route` that a request needs. A protocol, because the module of `Route` imports this one."""

    @property
    def returns(self) -> Field:
        """The shape of `data`."""

    @property
    def reads(self) -> bool:
        """Whether the route is a read whose response ends."""

    @property
    def paged(self) -> bool:
        """Whether the route is a list with pages."""

    @property
    def form(self) -> Field | None:
        """The shape of a multipart form."""

    @property
    def check_form(self) -> Mapping[str, QueryChecker]:
        """The check of each field of the form that is not a file."""


class WebSocket(Protocol):
    """The connection of a WebSocket route, as its handler sees it."""

    async def send(self, value: object) -> None:
        """Send a JSON message. Raises an error of Tornado, which ends the handler, when the client is gone."""

    def __aiter__(self) -> AsyncIterator[Json]:
        """Yield the messages of the client, until it disconnects."""

    async def still_allowed(self) -> None:
        """Raise 40100 or 40300 if the session ended or the permission was withdrawn since the handshake."""


NO_SOCKET = cast(WebSocket, None)  # for all routes that are not a WebSocket


@dataclass(slots=True)
class Request:
    """One request, as the lifecycle fills it before the handler runs.

    `path`, `query` and `body` are validated and converted for MongoDB; `given` is the body as the client sent it.
    `actor` is the caller, known by the token `bearer`; `scope` is the rows that the caller may see.
    `stream` is the body of a streamed route, `socket` the connection of a WebSocket route.
    `response_headers` are added to the response. `now` is the time of the whole request.
    `exemption` names the rule that the caller was exempt from as a super administrator; the operation log records it.
    `behind_unnamed_proxy`: the request was forwarded by a proxy that is not trusted, or that does not name the client;
    `remote_ip` is then the address of the proxy.
    `rows`: how many rows the request exports, imports or hands over; the operation log records it.
    `created_id`: the id of the record that the request created, for the operation log.
    `deleted`: the stores of this collection have its deleted records instead of the live ones.
    `trace_id`: for log lines, the id of the caller's trace (W3C Trace Context), or of our own if requests are traced.
    `names`: the current names of records that the response refers to, as far as `note_names` got them.
    `log_fields`: what each log line says about the request: `request_id`, `user_id`, `route`, `trace_id`, as far as
    known.
    `left`: the client disconnected before its response. The handler runs to its end, so that nothing is half done.
    """

    service: Service
    method: str
    target: str
    id: str
    headers: Mapping[str, str]
    remote_ip: str
    bearer: str | None = None
    trace_id: str | None = None
    raw_query: str = ""
    raw_body: bytes = b""
    stream: BodyStream | None = None
    socket: WebSocket = NO_SOCKET
    language: Language = "zh"
    now: datetime = field(default_factory=utc_now)
    route: Endpoint | None = None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Query = field(default_factory=dict)
    given: Json = None
    body: Body = None
    actor: Actor = ANONYMOUS
    scope: Scope = NO_SCOPE
    response_headers: dict[str, str] = field(default_factory=dict)
    exemption: str | None = None
    rows: int | None = None
    created_id: str | None = None
    deleted: Collection | None = None
    left: bool = False
    behind_unnamed_proxy: bool = False
    names: dict[str, Mapping[RecordId, str]] = field(default_factory=dict)
    log_fields: dict[str, object] = field(default_factory=dict)
    _leaving: list[Callable[[], None]] | None = None
    _passage: Passage | None = None

    @overload
    def store(self, collection: Collection[Typed]) -> Store[Typed]: ...

    @overload
    def store(self, collection: Collection) -> Store: ...

    def store(self, collection: Collection) -> Store[Any]:
        """Return a store of `collection` with the caller's data scope; writes carry the caller's audit stamp."""
        if collection.name in self.service.passed_collections and self._may_pass(collection):
            database = self.service.database
            known = database.current(collection)
            return DelegatedStore(database, known, self.actor, self.scope, self.now, lambda: self.passage)
        return self._store(collection, self.scope)

    def _may_pass(self, collection: Collection) -> bool:
        reads = self.route is not None and self.route.reads
        return reads and not self.scope.everything and not self._deleted_of(collection)

    def _deleted_of(self, collection: Collection) -> bool:
        return self.deleted is not None and self.deleted.name == collection.name

    @overload
    def system_store(self, collection: Collection[Typed]) -> Store[Typed]: ...

    @overload
    def system_store(self, collection: Collection) -> Store: ...

    def system_store(self, collection: Collection) -> Store[Any]:
        """Return a store without data scope, with the caller's audit stamp: for what a rule needs to look up."""
        return self._store(collection, ALL_ROWS)

    def _store(self, collection: Collection, scope: Scope) -> Store[Any]:
        store = self.service.database.store(collection, self.actor, scope, self.now)
        return store.deleted if self._deleted_of(collection) else store

    @property
    def passage(self) -> Passage | None:
        """What the caller may read because they are asked about it; None in writes, and without `Passes`."""
        if self._passage is None and self.route is not None and self.route.reads:
            passes: Passes | None = self.service.parts.get(Passes)
            if passes is not None and self.actor is not ANONYMOUS:
                self._passage = Passage(passes, self.actor, self.service.database.parents, lists=self.route.paged)
        return self._passage

    def part(self, kind: type[Part]) -> Part:
        """Return the running object of this type that the core or a plugin provides."""
        return self.service.parts[kind]

    def checked(self, check: Checker, given: Json, standing: ReadOnlyRecord | None = None) -> Body:
        """Validate the JSON body `given` and convert it for MongoDB.

        Raises `ValidationFailed` with the faults that the schema, the settings, the dictionaries and the calendar find,
        all at once. `standing` is the record that the body changes: its values are accepted even if no longer listed.
        """
        shape = check.field
        raw = self.raw_body if given is self.given else None
        has_rules = bool(shape.checked or shape.dated or bound_fields(shape))
        if not (has_rules or shape.priced) or not isinstance(given, dict):
            return check(given, raw)
        converted, faults = None, []
        try:
            converted = check(given, raw)
        except ValidationFailed as failure:
            faults += failure.errors
        if has_rules:
            reported = {fault.field for fault in faults}
            further = (fault for fault in self._further_faults(shape, given, standing) if fault.field not in reported)
            faults += islice(further, MAX_ERRORS)
        if not faults and raw is not None and may_have_digit_faults(shape, raw):
            faults += islice(digit_faults(shape, raw), MAX_ERRORS)
        if faults:
            raise ValidationFailed(faults[:MAX_ERRORS])
        return converted

    def _further_faults(
        self, shape: Field, given: ReadOnlyRecord, standing: ReadOnlyRecord | None
    ) -> Iterator[FieldError]:
        for name, child in shape.checked:
            value = given.get(name)
            fits = isinstance(value, list if child.kind == "array" else str)  # the schema refuses what does not
            rule = child.check(self.service, value) if child.check and fits else None
            if rule:
                yield FieldError(name, rule)
        yield from self.part(Dictionaries).faults(shape, given, standing)
        if shape.dated:
            zone = self.service.settings.zone
            yield from future_faults(shape, given, day_of(self.now, zone) + timedelta(days=1), zone)

    def sent(self) -> Json:
        """Parse the body as JSON, without validating it. Raises 40000 and 41300."""
        settings = self.service.settings
        return parse_json(self.raw_body, settings.max_json_depth, settings.max_json_values)

    def note_rows(self, count: int) -> None:
        """Note how many rows the request exports, imports or hands over, for the operation log."""
        self.rows = count

    def note_names(self, names: Names) -> None:
        """Note the current names of records that the response refers to, so that they are not looked up again.

        For a handler that has read them anyway, or that looks them up while it waits for something else.
        """
        for target, called in names.items():
            self.names[target] = {**self.names.get(target, {}), **called}

    async def find_names(self, wanted: Mapping[str, Set[RecordId]]) -> Names:
        """Return the names of records by the name or alias of their collection; look up those that were not noted."""
        if not self.names:
            return await self.part(RecordNames).look_up(wanted, self.language)
        noted = {target: self.names.get(target, {}) for target in wanted}
        missing = {target: rest for target, ids in wanted.items() if (rest := ids - noted[target].keys() - {None})}
        found = await self.part(RecordNames).look_up(missing, self.language)
        return {target: {**called, **found.get(target, {})} for target, called in noted.items()}

    async def transaction(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` in a transaction, so that all of its writes happen or none; it may run more than once."""
        return await self.service.database.transaction(work)

    @overload
    async def lock(self, collection: Collection[Typed], id: RecordId) -> Typed: ...

    @overload
    async def lock(self, collection: Collection, id: RecordId) -> Record: ...

    async def lock(self, collection: Collection, id: RecordId) -> Any:
        """Return a record and lock it until the transaction ends; others that lock it wait, in every process.

        The lock creates no new version and no notification. Raises 40400 if the caller sees no such record.
        """
        record = await self.store(collection).get(id)
        await self.service.database.lock(collection, record["id"])
        return record

    async def emit(self, event: Event | str, **payload: object) -> None:
        """Send an event to the listeners of other plugins; the payload carries the request as `request`."""
        await self.service.events.emit(event, {"request": self, **payload})

    def when_left(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` as soon as the client disconnects before its response. Returns a function that cancels this.

        For work whose result nobody else needs, and which leaves nothing half done when it is stopped.
        """
        if self.left:
            call()
        calls = self._leaving = self._leaving or []
        calls.append(call)
        return lambda: calls.remove(call) if call in calls else None

    def leave(self) -> None:
        """Note that the client disconnected, and run the callbacks of `when_left`."""
        self.left = True
        for call in list(self._leaving or ()):
            call()
