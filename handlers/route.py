"""`Route`: one endpoint, said once.

Validation, OpenAPI, the permission code, the menu's API entry and the operation log all come from it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypedDict, Unpack

from handlers.data.collection import Collection
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

Handler = Callable[[Request], Awaitable[Any]]

PUBLIC: Final = "public"
SIGNED_IN: Final = "signed-in"
SUPER: Final = "super"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
PERMISSION = re.compile(r"^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$")
_MODULE = re.compile(r"^/api/(?:v1/)?([a-z-]+)?.*$")
_PARAMETER = re.compile(r"{([a-z_]+)}")


@dataclass(frozen=True)
class Refusal:
    """What a handler itself may refuse a person who came as far as that: an error, with its own sentence or another.

    `when`: what an explanation says of it, where the sentence keeps to itself what the person may not know.
    `spares_super`: never a super administrator.
    """

    kind: ErrorKind
    sentence: Message | None = None
    when: Message | None = None
    spares_super: bool = False

    @cached_property
    def told(self) -> Message:
        """The sentence of the answer."""
        return self.sentence or self.kind.message


def conflicts(*sentences: Message) -> tuple[Refusal, ...]:
    """The 40901 of each sentence; one with `{places}` stands for all that it is filled to."""
    return tuple(Refusal(CONFLICT, sentence) for sentence in sentences)


class RouteOptions(TypedDict, total=False):
    """What an endpoint may be declared with besides what it must have; `Route` says what each means."""

    body: Field | None
    query: Mapping[str, Field]
    returns: Field
    errors: tuple[ErrorKind, ...]
    refusals: tuple[Refusal, ...]
    asks: tuple[str, ...]
    paged: bool
    logged: bool
    attempt: Callable[[Request], Coroutine[Any, Any, None]] | None
    before_password_change: bool
    bare: str | None
    tag: str
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


@dataclass(frozen=True)
class Route:
    """One endpoint.

    `access` is `PUBLIC`, `SIGNED_IN`, `SUPER` or a permission code `<module>:<entity>:<action>`; it has no default.
    `body` and `query` are checked before `handler` runs; `returns` is the shape of `data`.
    `paged`: the answer is a page of `returns`. `logged`: whether a write is put into the operation log.
    `attempt`: counts the request before its body is looked at, and may refuse it.
    `before_password_change`: reachable while the password must be changed. `bare`: the answer is no envelope.
    `collection`: the collection whose row rules the route applies, for explanations and tests.
    `refusals`: what the handler itself may refuse a person, by the record or by what the request carries; an
    explanation of an authorisation tells them. `asks`: events of the handler whose listeners may refuse it too.
    `etag`: answers carry an `ETag`, and a client that has the same one is answered 304 (RFC 9110 section 13.1.2).
    `streamed`: the body is not gathered; the handler reads `req.stream`, within limits of its own.
    `form`: the shape of the `multipart/form-data` that a streamed route reads; files are texts of the format `binary`.
    `ranges`: the answer may be asked for in parts (RFC 9110 section 14).
    `signed`: tells of a request whether its address carries its own permission; then it needs no token.
    `socket`: a WebSocket; the handler talks over `req.socket` for as long as the client stays. `messages`: the shapes
    of what it sends, each with its name in `type`.
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
    asks: tuple[str, ...] = ()
    paged: bool = False
    logged: bool = True
    attempt: Callable[[Request], Coroutine[Any, Any, None]] | None = None
    before_password_change: bool = False
    bare: str | None = None
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

    @cached_property
    def name(self) -> str:
        """Method and path, as logs and metrics call it."""
        return f"{self.method} {self.path}"

    @cached_property
    def guarded(self) -> bool:
        """Whether the route needs a role → menu → API binding."""
        return self.access not in (PUBLIC, SIGNED_IN, SUPER)

    @cached_property
    def writes(self) -> bool:
        """Whether the route changes something, by its method."""
        return self.method != "GET"

    @cached_property
    def keyed(self) -> bool:
        """Whether an `Idempotency-Key` holds. A streamed form passes it to `answer_once` itself; other streams have none."""
        return (
            self.writes and self.access != PUBLIC and self.bare is None and (not self.streamed or self.form is not None)
        )

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names in the path, in order."""
        return tuple(_PARAMETER.findall(self.path))

    @cached_property
    def check_body(self) -> Checker | None:
        """The compiled check of the body; compiled when the registry freezes."""
        return Checker(self.body) if self.body is not None else None

    @cached_property
    def check_query(self) -> QueryChecker:
        """The compiled check of the query string."""
        return QueryChecker(self.query)

    @cached_property
    def check_form(self) -> Mapping[str, QueryChecker]:
        """The compiled check of each field of the form that is no file."""
        fields = (self.form.fields or {}) if self.form is not None else {}
        values = {name: field for name, field in fields.items() if field.rules.get("format") != "binary"}
        return {name: QueryChecker({name: field}) for name, field in values.items()}

    @cached_property
    def every_error(self) -> tuple[ErrorKind, ...]:
        """All errors that the route can answer: its own and those of the lifecycle."""
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

    `record` stands for the `returns` and the `collection` of a response that is one record of that collection, or a
    page of them. `tag` is the module of `access`, or of the path, unless it is given.
    """
    method, _, path = endpoint.partition(" ")
    module = access.partition(":")[0] if ":" in access else _MODULE.sub(r"\1", path)
    given: dict[str, Any] = {"tag": module}
    if (record := options.pop("record", None)) is not None:
        given |= {"returns": record.read, "collection": record.name}
    return Route(method=method, path=path, handler=handler, summary=summary, access=access, **given | {**options})
