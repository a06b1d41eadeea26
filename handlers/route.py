"""`Route`: the declaration of one endpoint.

Validation, the OpenAPI document, the permission check, the entry in a menu and the operation log all derive from it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypedDict, Unpack

from handlers.data.collection import Collection
from handlers.events import Event
from handlers.request import Request
from handlers.schema.errors import (
    BAD_REQUEST,
    CONFLICT,
    FORBIDDEN,
    IDEMPOTENCY_REUSED,
    INTERNAL,
    INVALID,
    MEDIA_TYPE,
    NOT_FOUND,
    PASSWORD_CHANGE_REQUIRED,
    RANGE,
    RATE_LIMITED,
    SUPER_ONLY,
    TOKEN_EXPIRED,
    TOO_LARGE,
    UNAUTHENTICATED,
    UNAVAILABLE,
    ErrorKind,
)
from handlers.schema.fields import NOTHING, Field
from handlers.schema.messages import Message
from handlers.schema.validation import Checker, QueryChecker

Handler = Callable[[Request], Awaitable[object]]

PUBLIC: Final = "public"
SIGNED_IN: Final = "signed-in"
SUPER: Final = "super"
Fits = Mapping[str, bool | tuple[str, ...] | Literal["caller", "others"]]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
PERMISSION = re.compile(r"^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$")
_MODULE = re.compile(r"^/api/(?:v1/)?([a-z-]+)?.*$")
_OF_RECORD = re.compile(r"}/([a-z0-9-]+)$")
_PLAIN_ACTIONS = ("list", "read", "create", "update", "delete")
_PARAMETER = re.compile(r"{([a-z_]+)}")


@dataclass(frozen=True)
class Refusal:
    """An error that the handler itself may raise for a caller who has the permission, with a message of its own.

    `hint`: what an explanation of an authorisation says about it, if the message hides what the caller may not know.
    `exempt_super`: super administrators are exempt; `exemption` is the name under which the operation log records that.
    """

    kind: ErrorKind
    sentence: Message | None = None
    hint: Message | None = None
    exempt_super: bool = False
    exemption: str = ""

    @cached_property
    def message(self) -> Message:
        """The message of the response."""
        return self.sentence or self.kind.message


def conflicts(*sentences: Message) -> tuple[Refusal, ...]:
    """Return a 40901 refusal for each message; a `{placeholder}` in a message matches any value."""
    return tuple(Refusal(CONFLICT, sentence) for sentence in sentences)


class RouteOptions(TypedDict, total=False):
    """The optional arguments of `route`; `Route` says what each means."""

    body: Field | None
    query: Mapping[str, Field]
    returns: Field
    errors: tuple[ErrorKind, ...]
    refusals: tuple[Refusal, ...]
    events: tuple[Event | str, ...]
    paged: bool
    logged: bool
    attempt: Callable[[Request], Awaitable[None]] | None
    before_password_change: bool
    bare: str | None
    instead: str | None
    aliases: Mapping[str, str]
    tag: str
    title: tuple[str, str]
    description: str
    operation: str
    record: Collection
    collection: str
    etag: bool
    streamed: bool
    form: Field | None
    ranges: bool
    signed: Callable[[Request], bool] | None
    socket: bool
    messages: Mapping[str, Field]
    sends: Mapping[str, Field]
    fits: Fits
    effect: tuple[str, str]


@dataclass(frozen=True)
class Route:
    """One endpoint.

    `access` is `PUBLIC`, `SIGNED_IN`, `SUPER` or a permission code `<module>:<entity>:<action>`; it has no default.
    `body` and `query` are checked before `handler` runs; `returns` is the shape of `data`.
    `title`: what people call it if its collection and permission do not say so: `("公海客户", "Open customers")`.
    `paged`: the response is a page of `returns`. `logged`: whether a write is added to the operation log.
    `attempt`: called before the body is parsed, to count the request; it may refuse the request.
    `before_password_change`: may be used while the caller must change the password.
    `bare`: the media type of a response without an envelope. `instead`: the media type of the `Response` that the
    handler returns in place of data if the query asks for it.
    `aliases`: fields of the envelope that its responses, also those of errors, repeat under another name, for front ends
    that read that one: `{"message": "msg"}`.
    `collection`: the collection whose data scope the route applies, for explanations and tests.
    `refusals`: errors that the handler itself may raise because of the record or the request; the explanation of an
    authorisation lists them. `events`: events that the handler emits and whose listeners may refuse the request too.
    `etag`: responses carry an `ETag`; a client that has the same one gets 304 (RFC 9110 section 13.1.2).
    `streamed`: the body is not buffered; the handler reads `req.stream`, within limits of its own.
    `form`: the shape of the `multipart/form-data` that a streamed route reads; files are texts with format `binary`.
    `ranges`: clients may request a part of the response (RFC 9110 section 14).
    `signed`: returns whether the URL of a request carries its own permission; such a request needs no token.
    `socket`: a WebSocket; the handler uses `req.socket` for as long as the client is connected. `messages`: the shapes
    of what it sends, by the value of their `type`.
    `sends`: the bodies of requests that the service itself makes because of this one, by name: webhooks of the document.
    `fits`: for an action on a record, what its fields must hold for it to make sense: something (True), nothing or
    false (False), one of these values, the `caller`, or `others` than them. Pages hide it otherwise; the handler still
    refuses by itself.
    `effect`: what an action does, as pages say before it is confirmed, if no state of the record tells it:
    `("客户将回到公海。", "The customer goes back to the pool.")`.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    access: str
    body: Field | None = None
    query: Mapping[str, Field] = field(default_factory=dict)
    returns: Field = NOTHING
    errors: tuple[ErrorKind, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    events: tuple[Event | str, ...] = ()
    paged: bool = False
    title: tuple[str, str] | None = None
    logged: bool = True
    attempt: Callable[[Request], Awaitable[None]] | None = None
    before_password_change: bool = False
    bare: str | None = None
    instead: str | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    tag: str = ""
    description: str = ""
    operation: str = ""
    collection: str = ""
    etag: bool = False
    streamed: bool = False
    form: Field | None = None
    ranges: bool = False
    signed: Callable[[Request], bool] | None = None
    socket: bool = False
    messages: Mapping[str, Field] = field(default_factory=dict)
    sends: Mapping[str, Field] = field(default_factory=dict)
    fits: Fits = field(default_factory=dict)
    effect: tuple[str, str] | None = None

    @cached_property
    def name(self) -> str:
        """Method and path: the name of the route in logs and metrics."""
        return f"{self.method} {self.path}"

    @cached_property
    def guarded(self) -> bool:
        """Whether a caller needs a permission code, which a role grants."""
        return self.access not in (PUBLIC, SIGNED_IN, SUPER)

    @cached_property
    def writes(self) -> bool:
        """Whether the method changes something, as all but GET do."""
        return self.method != "GET"

    @cached_property
    def reads(self) -> bool:
        """Whether the route is a read whose response ends: neither a write nor a WebSocket."""
        return not self.writes and not self.socket

    @cached_property
    def passable(self) -> bool:
        """Whether people who are asked about a record may read it, or what hangs below it, without the permission.

        This holds for the route of one record or of its history whose permission is `read`, and for that of a list.
        """
        of_record = self.parameters == ("id",) and self.access.endswith(":read")
        of_list = self.paged and not self.parameters and self.access.endswith(":list")
        return self.reads and bool(self.collection) and (of_record or of_list)

    @cached_property
    def action(self) -> str | None:
        """What the history calls an update by this route: `submit` for `POST …/{id}/submit`; None for `update`."""
        verb = self.access.rpartition(":")[2]
        of_record = _OF_RECORD.search(self.path)
        if self.method == "POST" and of_record and verb != "create":
            return of_record.group(1)
        return verb if self.guarded and verb not in _PLAIN_ACTIONS else None

    @cached_property
    def keyed(self) -> bool:
        """Whether the route honours an `Idempotency-Key`.

        The handler of a streamed form passes it to `respond_once` itself; other streamed routes ignore it.
        """
        return (
            self.writes and self.access != PUBLIC and self.bare is None and (not self.streamed or self.form is not None)
        )

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters in the path, in order."""
        return tuple(_PARAMETER.findall(self.path))

    @cached_property
    def needs_body(self) -> bool:
        """Whether a request without a body is refused; it is accepted if every field of the body is optional."""
        shape = self.body
        return shape is not None and (
            shape.kind != "object" or any(one.required for one in (shape.fields or {}).values())
        )

    @cached_property
    def check_body(self) -> Checker | None:
        """The check of the body, which is compiled in a millisecond at the first request."""
        return Checker(self.body) if self.body is not None else None

    @cached_property
    def check_query(self) -> QueryChecker:
        """The compiled check of the query string."""
        return QueryChecker(self.query)

    @cached_property
    def check_form(self) -> Mapping[str, QueryChecker]:
        """The compiled check of each field of the form that is not a file."""
        fields = (self.form.fields or {}) if self.form is not None else {}
        values = {name: field for name, field in fields.items() if field.rules.get("format") != "binary"}
        return {name: QueryChecker({name: field}) for name, field in values.items()}

    @cached_property
    def every_error(self) -> tuple[ErrorKind, ...]:
        """All errors that the route can raise: its own and those of the lifecycle."""
        kinds = [
            INVALID,
            BAD_REQUEST,
            INTERNAL,
            UNAVAILABLE,
            *self.errors,
            *(refusal.kind for refusal in self.refusals),
        ]
        if self.access != PUBLIC:
            kinds += [UNAUTHENTICATED, TOKEN_EXPIRED, RATE_LIMITED]
        if self.access != PUBLIC and not self.before_password_change:
            kinds += [PASSWORD_CHANGE_REQUIRED]
        if self.attempt is not None:
            kinds += [RATE_LIMITED]
        if self.guarded:
            kinds += [FORBIDDEN]
        if self.access == SUPER:
            kinds += [SUPER_ONLY]
        if self.parameters:
            kinds += [NOT_FOUND]
        if self.body is not None or self.form is not None:
            kinds += [MEDIA_TYPE, TOO_LARGE]
        if self.ranges:
            kinds += [RANGE]
        if self.keyed:
            kinds += [IDEMPOTENCY_REUSED]
        if self.method == "DELETE":
            kinds += [CONFLICT]
        return tuple(sorted(set(kinds), key=lambda kind: kind.code))


def route(endpoint: str, handler: Handler, *, summary: str, access: str, **options: Unpack[RouteOptions]) -> Route:
    """Declare an endpoint: `route("POST /api/v1/acme/agreements/{id}/sign", sign, summary=…, access=…)`.

    `record` is short for `returns` and `collection` if the response is a record of that collection, or a page of them.
    `tag` is by default the module in `access`, or in the path.
    """
    method, _, path = endpoint.partition(" ")
    module = access.partition(":")[0] if ":" in access else _MODULE.sub(r"\1", path)
    given: dict[str, Any] = {"tag": module}
    if (record := options.pop("record", None)) is not None:
        given |= {"returns": record.read, "collection": record.name}
    return Route(method=method, path=path, handler=handler, summary=summary, access=access, **given | {**options})
