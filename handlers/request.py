"""`Request`: what a handler function receives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Protocol, TypeVar

from handlers.actor import ANONYMOUS, Actor
from handlers.data.collection import Collection
from handlers.data.database import utc_now
from handlers.data.scope import Scope
from handlers.data.store import Store
from handlers.http.streams import BodyStream
from handlers.schema.calendar import day_of
from handlers.schema.errors import FieldError, ValidationFailed
from handlers.schema.fields import Field
from handlers.schema.messages import Language
from handlers.schema.validation import MAX_ERRORS, Checker, QueryChecker, digit_faults, future_faults, parse_json
from handlers.service import Service

Result = TypeVar("Result")
Part = TypeVar("Part")
NO_SCOPE = Scope()


class Endpoint(Protocol):
    """What a request knows of its route, which knows of handlers and so of requests."""

    @property
    def returns(self) -> Field:
        """The shape of `data`."""

    @property
    def form(self) -> Field | None:
        """The shape of a form."""

    @property
    def check_form(self) -> Mapping[str, QueryChecker]:
        """The check of each field of the form that is no file."""


@dataclass(slots=True)
class Request:
    """One request: `path`, `query` and `body` (`given` as JSON) are checked and typed; `actor` is who asks, by the token `bearer`.

    `stream` is the body of a streamed route, `socket` the client of a WebSocket route. `answer_headers` are added to the answer. `now` is the one moment that the whole request takes place at.
    `exemption` names the rule that the caller was spared as a super administrator; the operation log keeps it.
    `behind_unnamed_proxy`: who forwarded it is no trusted proxy, or does not say for whom; `remote_ip` is its own address.
    `left`: the client went away before its response; the handler goes on to its end, so that nothing is half done.
    """

    service: Service
    method: str
    target: str
    id: str
    headers: Mapping[str, str]
    remote_ip: str
    bearer: str | None = None
    raw_query: str = ""
    raw_body: bytes = b""
    stream: BodyStream | None = None
    socket: Any = None
    language: Language = "zh"
    now: datetime = field(default_factory=utc_now)
    route: Endpoint | None = None
    path: Mapping[str, str] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    given: Any = None
    body: Any = None
    actor: Actor = ANONYMOUS
    scope: Scope = NO_SCOPE
    answer_headers: dict[str, str] = field(default_factory=dict)
    exemption: str | None = None
    left: bool = False
    behind_unnamed_proxy: bool = False
    _leaving: list[Callable[[], None]] | None = None

    def store(self, collection: Collection) -> Store:
        """`collection` as the caller sees it: under their data scope, stamped with their name."""
        return self.service.database.store(collection, self.actor, self.scope, self.now)

    def system_store(self, collection: Collection) -> Store:
        """`collection` without data scope, still stamped with the caller: for what a rule needs to look up."""
        return self.service.database.store(collection, self.actor, now=self.now)

    def part(self, kind: type[Part]) -> Part:
        """A running object that a plugin provides."""
        found: Part = self.service.parts[kind]
        return found

    def checked(self, check: Checker, given: Any) -> Any:
        """The body `given` as JSON, converted for MongoDB; what the schema, settings and the calendar refuse is told together.

        Raises `ValidationFailed`.
        """
        shape = check.field
        if not (shape.checked or shape.dated or shape.priced) or not isinstance(given, dict):
            return check(given)
        converted, faults = None, []
        try:
            converted = check(given)
        except ValidationFailed as failure:
            faults += failure.errors
        told = {fault.field for fault in faults}
        further = (fault for fault in self._further_faults(shape, given) if fault.field not in told)
        faults += islice(further, MAX_ERRORS)
        if not faults and given is self.given:
            faults += islice(digit_faults(shape, self.raw_body), MAX_ERRORS)
        if faults:
            raise ValidationFailed(faults[:MAX_ERRORS])
        return converted

    def _further_faults(self, shape: Field, given: Mapping[str, Any]) -> Iterator[FieldError]:
        for name, child in shape.checked:
            value = given.get(name)
            rule = child.check(self.service, value) if child.check and isinstance(value, str) else None
            if rule:
                yield FieldError(name, rule)
        if shape.dated:
            zone = self.service.settings.zone
            yield from future_faults(shape, given, day_of(self.now, zone) + timedelta(days=1), zone)

    def sent(self) -> Any:
        """The body as JSON, not checked yet. Raises 40000 and 41300."""
        settings = self.service.settings
        return parse_json(self.raw_body, settings.max_json_depth, settings.max_json_values)

    async def transaction(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` so that all its writes happen or none; it may run more than once."""
        return await self.service.database.transaction(work)

    async def emit(self, name: str, **payload: Any) -> None:
        """Tell the other plugins; the payload carries the request as `request`."""
        await self.service.events.emit(name, {"request": self, **payload})

    def when_left(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` as soon as the client goes away before its response; what is returned takes that back.

        For work that is of no use then and whose end leaves nothing half done.
        """
        if self.left:
            call()
        calls = self._leaving = self._leaving or []
        calls.append(call)
        return lambda: calls.remove(call) if call in calls else None

    def leave(self) -> None:
        """The client went away."""
        self.left = True
        for call in list(self._leaving or ()):
            call()
