"""START HERE: the life of a request, from its bytes to its response. You need to know no web framework to read it.

`respond` calls, in this order: `find_route`, `admit` (authenticate, authorize, count an attempt, read the input),
`handle` (the handler of the route, and the envelope around what it returns) and `conclude` (metrics and logs).
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import AsyncIterable, Awaitable, Mapping
from contextvars import Token
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from config.database import DatabaseUnavailable, share_deadline
from config.logs import log_request, request_context
from handlers.access.actor import ANONYMOUS, Actor
from handlers.access.rate_limit import RateLimit
from handlers.access.requests import is_admitted, missing_permission
from handlers.catalogue.dictionaries import NOT_LISTED, Dictionaries
from handlers.data.history.history import CAUSE, Cause
from handlers.idempotency import respond_once
from handlers.operations.metrics import Metrics
from handlers.operations.operation_log import OperationLog
from handlers.ports import Authenticator, Authorizer
from handlers.query_string import parse_query
from handlers.request import Request
from handlers.results import encode_result
from handlers.route import METHODS, PUBLIC, SUPER, Route
from handlers.routing import Router
from handlers.schema.envelope import failed, repeat
from handlers.schema.errors import (
    BAD_REQUEST,
    FORBIDDEN,
    INTERNAL,
    MEDIA_TYPE,
    PASSWORD_CHANGE_REQUIRED,
    STALE,
    SUPER_ONLY,
    TOO_LARGE,
    UNAUTHENTICATED,
    ApiError,
    ErrorKind,
    FieldError,
    ValidationFailed,
    invalid,
    unavailable,
)
from handlers.schema.fields import MAX_TEXT
from handlers.schema.messages import WANTS_JSON
from handlers.schema.redaction import redacted
from handlers.schema.validation import MAX_ERRORS, bound_fields
from handlers.schema.values import Body, Json, Record
from handlers.tasks import within

log = logging.getLogger("tradewind.request")
_COUNTED_METHODS = frozenset((*METHODS, "HEAD"))
_JSON = re.compile(r"^application/json\s*(;\s*charset=\"?utf-8\"?\s*)?$", re.IGNORECASE)


@dataclass(slots=True)
class Response:
    """An HTTP response: status, body and headers. A `stream` is sent in place of `body`, piece by piece."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json; charset=utf-8"
    stream: AsyncIterable[bytes] | None = None


async def respond(request: Request) -> Response:
    """Route, authenticate, authorize, validate, handle and log a request. Every request goes through this function.

    No request takes longer than its time limit. Once the database has failed it, all its operations end at one deadline.
    """
    started = time.perf_counter()
    error: ApiError | None = None
    token = begin(request)
    try:
        route = find_route(request)  # 404, 405
        response = await serve(request, route)
    except ApiError as raised:
        error = raised
    except (DatabaseUnavailable, TimeoutError) as raised:
        log.warning("back end out of reach", extra={"reason": f"{type(raised).__name__}: {raised}"[:300]})
        error = unavailable()
    except Exception:
        log.exception("unhandled error")
        error = ApiError(INTERNAL, data={"request_id": request.id})
    if error is not None:
        headers = {**request.response_headers, **error.headers}
        response = Response(error.kind.status, failed(error, request.language), headers)
    if isinstance(request.route, Route) and request.route.aliases:
        response.body = repeat(response.body, request.route.aliases)
    conclude(request, response.status, error.kind.code if error else 0, (time.perf_counter() - started) * 1000)
    request_context.reset(token)
    return response


def begin(request: Request) -> Token[Mapping[str, Any]]:
    """Make the log lines of this context name the request, and its operations share a deadline.

    Returns what ends the naming. `authenticate` adds the caller and the route to the lines.
    """
    request.log_fields["request_id"] = request.id
    if request.trace_id is not None:
        request.log_fields["trace_id"] = request.trace_id
    share_deadline(request.service.database.driver.operations)
    return request_context.set(request.log_fields)


def find_route(request: Request) -> Route:
    """Set `route` and `path` of the request, and the cause of its writes. Raises 40400 or 40500."""
    route, request.path = request.service.parts[Router].match(request.method, request.target)
    request.route = route
    CAUSE.set(Cause(request.id, route.action))
    return route


async def _leave_out_unread(request: Request, route: Route, error: ApiError) -> None:
    """Remove the fields from a 40902 that the caller may not read, or all if they may not read the record."""
    data: Any = error.data
    prefix, _, _ = route.path.partition("{id}")
    try:
        reading, _ = request.service.parts[Router].match("GET", f"{prefix}{request.path['id']}")
    except (ApiError, KeyError):
        return  # the record is read by the response of the change itself
    if await refusal(request.actor, reading, request.part(Authorizer)) is not None:
        data["changed"] = None
    elif data["changed"] is not None and reading.returns.fields:
        data["changed"] = [name for name in data["changed"] if name in reading.returns.fields]


def serve(request: Request, route: Route) -> Awaitable[Response]:
    """Admit and handle the request within the time limit of requests."""
    if route.streamed:
        return _serve_stream(request, route)
    return within(request.service.request_limit, _admit_and_handle(request, route))


async def _serve_stream(request: Request, route: Route) -> Response:
    await within(request.service.request_limit, admit(request, route))
    return await handle(request, route)  # a stream has its own limits, on time and on size


async def _admit_and_handle(request: Request, route: Route) -> Response:
    await admit(request, route)
    try:
        return await handle(request, route)
    except ApiError as error:
        if error.kind is STALE and error.data is not None:
            await _leave_out_unread(request, route, error)
        raise


async def admit(request: Request, route: Route) -> None:
    """Let the request in, or refuse it before its handler runs."""
    await authenticate(request, route)  # 401
    await authorize(request, route)  # 403, 429
    if route.attempt is not None:
        await route.attempt(request)  # 429; counted before the body is parsed, because anybody may have sent it
    if route.body is not None and bound_fields(route.body):
        await read_listed_input(request, route)
    else:
        read_input(request, route)  # 400, 413, 415


async def authenticate(request: Request, route: Route) -> None:
    """Set `actor` of the request. Public routes and signed URLs ignore the token, so an invalid one does no harm."""
    if route.access == PUBLIC or (route.signed is not None and route.signed(request)):
        return
    if request.bearer is None:
        raise ApiError(TOO_LARGE if _exceeds_public(request) else UNAUTHENTICATED)
    authenticator = request.service.parts[Authenticator]
    request.actor = await authenticator.authenticate(request.bearer, request.remote_ip)
    request.log_fields["user_id"] = request.actor.user_id
    request.log_fields["route"] = route.name


async def authorize(request: Request, route: Route) -> None:
    """Check the rate limit, a required password change and the permission; then set the data scope of the request."""
    actor = request.actor
    if actor is ANONYMOUS:
        return
    parts = request.service.parts
    parts[RateLimit].take(str(actor.user_id))
    authorizer = parts[Authorizer]
    kind = await refusal(actor, route, authorizer)
    if kind is not None:
        await _refuse(request, route, kind)
    request.scope = await authorizer.scope_of(actor)


async def require_permission(request: Request, route: Route) -> None:
    """Raise 40301, 40302 or 40300 if the caller may not use the route; a 40300 names the missing permission code."""
    kind = await refusal(request.actor, route, request.part(Authorizer))
    if kind is not None:
        await _refuse(request, route, kind)


async def _refuse(request: Request, route: Route, kind: ErrorKind) -> None:
    """Raise the refusal, unless the caller has a pass for what the permission is missing for."""
    if kind is not FORBIDDEN:
        raise ApiError(kind)
    if not await is_admitted(request, route):
        raise missing_permission(request, route.access)


async def refusal(actor: Actor, route: Route, authorizer: Authorizer) -> ErrorKind | None:
    """Return why a person who is logged in may not use `route` (40301, 40302 or 40300), or None if they may."""
    if route.access == PUBLIC:
        return None
    if actor.must_change_password and not route.before_password_change:
        return PASSWORD_CHANGE_REQUIRED
    if route.access == SUPER and not actor.is_super:
        return SUPER_ONLY
    if route.guarded and not actor.is_super and not await authorizer.allows(actor, route):
        return FORBIDDEN
    return None


async def read_listed_input(request: Request, route: Route) -> None:
    """Read input with dictionary values. A value that is no longer listed is accepted if the record already has it."""
    await request.part(Dictionaries).current()
    try:
        read_input(request, route)
    except ValidationFailed as failure:
        unlisted = any(fault.rule == NOT_LISTED for fault in failure.errors)
        standing = await _find_changed(request, route) if unlisted else None
        if standing is None:
            raise
        read_input(request, route, standing)


async def _find_changed(request: Request, route: Route) -> Record | None:
    """Return the record that the request is about, or None if the caller sees no such record."""
    collection = request.service.database.collections.get(route.collection)
    if collection is None or "id" not in request.path:
        return None
    try:
        return await request.store(collection).get(request.path["id"])
    except ApiError:
        return None


def read_input(request: Request, route: Route, standing: Record | None = None) -> None:
    """Check query and body together, so that the response names every invalid field."""
    faults: list[FieldError] = []
    try:
        request.query = route.check_query(parse_query(request.raw_query))
    except ValidationFailed as failure:
        faults += failure.errors
    try:
        request.body = None if route.streamed else _body(request, route, standing)
    except ValidationFailed as failure:
        faults += [replace(fault, field=fault.field or "body") for fault in failure.errors]
    if faults:
        raise ValidationFailed(faults)


def _exceeds_public(request: Request) -> bool:
    """Return whether the body is larger than one may be that comes without a log-in."""
    return len(request.raw_body) > request.service.settings.max_public_body_bytes


def _body(request: Request, route: Route, standing: Record | None) -> Body:
    given: Json = {}
    if request.raw_body and request.method != "GET":
        if not _JSON.match(request.headers.get("Content-Type", "")):
            raise ApiError(MEDIA_TYPE, WANTS_JSON)
        if route.access == PUBLIC and _exceeds_public(request):
            raise ApiError(TOO_LARGE)
        given = request.given = request.sent()
    if route.check_body is not None:
        return request.checked(route.check_body, given, standing)
    if given and isinstance(given, dict):
        raise ValidationFailed([FieldError(str(name), "unknown") for name in islice(given, MAX_ERRORS)])
    if given:
        raise invalid("body", "type")
    return None


async def handle(request: Request, route: Route) -> Response:
    """Run the handler, once for each idempotency key, and build the response."""
    if route.socket:
        raise ApiError(BAD_REQUEST, headers={"Upgrade": "websocket"})
    if route.bare:
        produced: Any = await route.handler(request)
        if isinstance(produced, Response):
            return produced
        response = Response(200, produced, request.response_headers, route.bare)
    elif route.instead:
        result = await route.handler(request)
        if isinstance(result, Response):
            return result
        response = Response(200, await encode_result(request, route, result), request.response_headers)
    elif _has_idempotency_key(request, route):
        body = await respond_once(request, lambda: _run_handler(request, route))
        response = Response(200, body, request.response_headers)
    else:
        body = await encode_result(request, route, await route.handler(request))
        response = Response(200, body, request.response_headers)
    return _add_etag(request, response) if route.etag else response


def _has_idempotency_key(request: Request, route: Route) -> bool:
    keyed = route.keyed and "Idempotency-Key" in request.headers
    return keyed and request.actor is not ANONYMOUS and not route.streamed


def _add_etag(request: Request, response: Response) -> Response:
    """Return the response with its `ETag`, or a 304 without a body if the client already has that one."""
    tag = f'W/"{hashlib.sha256(response.body).hexdigest()[:32]}"'
    headers = {"Cache-Control": "private, no-cache", **response.headers, "ETag": tag}
    known = [part.strip().removeprefix("W/") for part in request.headers.get("If-None-Match", "").split(",")]
    unchanged = "*" in known or tag.removeprefix("W/") in known
    tagged = replace(response, headers=headers)
    return replace(tagged, status=304, body=b"") if unchanged else tagged


async def _run_handler(request: Request, route: Route) -> bytes:
    return await encode_result(request, route, await route.handler(request))


def conclude(request: Request, status: int, code: int, milliseconds: float) -> None:
    """Count and log the request, and add a write or an export to the operation log. Never waits."""
    route = request.route if isinstance(request.route, Route) else None
    name = route.name if route else "none"
    method = request.method if request.method in _COUNTED_METHODS else "other"  # a client may invent methods
    request.service.parts[Metrics].observe(method, route.path if route else "none", status, milliseconds)
    line = {
        **request.log_fields,
        "method": request.method,
        "path": request.target[:500],
        "route": name,
        "status": status,
        "code": code,
        "milliseconds": round(milliseconds, 2),
        "address": request.remote_ip,
        "user_id": request.actor.user_id,
    }
    log_request(line)
    noted = route is not None and (route.writes or request.rows is not None) and route.logged
    if route and noted and request.actor is not ANONYMOUS:
        request.part(OperationLog).record(_operation(request, route, status, code, milliseconds))


def _operation(request: Request, route: Route, status: int, code: int, milliseconds: float) -> Record:
    return {
        "at": request.now,
        "user_id": request.actor.user_id,
        "username": request.actor.username,
        "permission": route.access if route.guarded else None,
        "summary": route.summary,
        "method": request.method,
        "path": request.target[:2000],
        "route": route.path,
        "status": status,
        "code": code,
        "milliseconds": round(milliseconds, 3),
        "address": request.remote_ip,
        "user_agent": request.headers.get("User-Agent", "")[:500],
        "request_id": request.id,
        "resource_id": next((value[:MAX_TEXT] for value in request.path.values()), request.created_id),
        "rows": request.rows,
        "exemption": request.exemption,
        "body": redacted(_logged_body(request), route.body, valid=request.body is not None),
    }


def _logged_body(request: Request) -> Json:
    if request.given is not None:
        return request.given
    if not request.raw_body or len(request.raw_body) > request.service.settings.max_body_bytes:
        return None
    try:
        return request.sent()
    except ApiError:
        return None
