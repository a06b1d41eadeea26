"""The core's own routes: health, readiness, metrics, OpenAPI, the docs page, shared constants."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping
from contextvars import Context
from functools import lru_cache, partial
from importlib.resources import files
from typing import Any

from config.version import VERSION
from handlers.catalogue.declarations import Catalogue
from handlers.catalogue.dictionaries import Dictionaries, Entries
from handlers.catalogue.pickers import PICKER_ROUTE
from handlers.catalogue.searching import SEARCH_ROUTE
from handlers.data.database import Database
from handlers.docs.openapi import describe, options_of
from handlers.http.addresses import listed, networks
from handlers.lifecycle import Response
from handlers.operations.processes import Processes
from handlers.request import Request
from handlers.route import PUBLIC, Refusal, Route, route
from handlers.schema.envelope import to_json
from handlers.schema.errors import NOT_FOUND, ApiError, unavailable
from handlers.schema.fields import array, boolean, choice, integer, mapping, obj, text
from handlers.schema.messages import NOT_READY, SILENT, STOPPING, UNLISTED_ADDRESS, Language
from handlers.service import ReadinessCheck

log = logging.getLogger("tradewind.system")
_OPEN_METRICS = "application/openmetrics-text"
_READY_SECONDS = 2.0
_READY_AGE_SECONDS = 1.0
_PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-cache",
}


async def health(req: Request) -> dict[str, str]:
    """Report that the process is alive, without checking the database."""
    return {"status": "ok"}


async def ready(req: Request) -> dict[str, Any]:
    """Report that the process can serve: it is not stopping, and the checks of the database and of plugins pass.

    A stopping process that another one has replaced on the same port reports what its replacement would.
    Raises 50300, naming the checks that do not pass within two seconds. The result is at most a second old.
    """
    if req.service.draining and not req.service.replaced:
        raise unavailable(reason=STOPPING)
    results = await req.part(Readiness).results()
    failed = [name for name, passed in results.items() if not passed]
    if failed:
        raise unavailable(reason=NOT_READY.filled(parts=", ".join(failed)))
    return {"status": "ready", "checks": list(results)}


class Readiness:
    """The readiness checks of the database and of plugins; they run at most once a second, however many clients ask."""

    def __init__(self, database: Database, named: Mapping[str, ReadinessCheck]) -> None:
        self._database = database
        self._named = named
        self._started_at = -math.inf
        self._running: asyncio.Task[dict[str, bool]] | None = None

    async def results(self) -> dict[str, bool]:
        """Return whether each check passed within two seconds, by its name."""
        now = asyncio.get_running_loop().time()
        if self._running is None or (self._running.done() and now - self._started_at >= _READY_AGE_SECONDS):
            self._started_at = now
            # in its own context: it must not log as, or be cancelled with, the request that came first
            self._running = asyncio.create_task(self._run(), context=Context())
        return await asyncio.shield(self._running)

    async def _run(self) -> dict[str, bool]:
        checks: dict[str, ReadinessCheck] = {"database": partial(_ping, self._database), **self._named}
        results = await asyncio.gather(*(_passes(name, check) for name, check in checks.items()))
        return dict(zip(checks, results, strict=True))


async def _ping(database: Database) -> None:
    await database.driver.command({"ping": 1})


async def _passes(name: str, check: ReadinessCheck) -> bool:
    try:
        async with asyncio.timeout(_READY_SECONDS):
            await check()
    except Exception as error:
        log.warning("not ready", extra={"check": name, "reason": f"{type(error).__name__}: {error}"[:300]})
        return False
    return True


async def metrics(req: Request) -> bytes | Response:
    """Return Prometheus metrics, only to the addresses in the setting, and not through a proxy that hides its clients.

    If requests are traced and the client asks for OpenMetrics, durations have exemplars with their traces.
    """
    _require_listed(req)
    if req.service.settings.traces and _OPEN_METRICS in req.headers.get("Accept", ""):
        text = await req.part(Processes).exposition(open_metrics=True)
        return Response(200, text, req.response_headers, f"{_OPEN_METRICS}; version=1.0.0; charset=utf-8")
    return await req.part(Processes).exposition()


async def processes(req: Request) -> dict[str, Any]:
    """Report whether every process of this port responds. Raises 50300, naming those that do not within two seconds."""
    _require_listed(req)
    states = await req.part(Processes).all_states()
    silent = [str(one.number) for one in states if not one.pid]
    if silent:
        raise unavailable(reason=SILENT.filled(processes=", ".join(silent)))
    found = ({"process": str(one.number), "pid": one.pid, "version": one.version} for one in states)
    return {"status": "ok", "processes": list(found)}


def _require_listed(req: Request) -> None:
    if req.behind_unnamed_proxy or not listed(req.remote_ip, networks(req.service.settings.metrics_clients)):
        raise ApiError(NOT_FOUND)


class Description:
    """The OpenAPI document of this process, built for each language on the first request for it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._texts: dict[Language, tuple[Entries, bytes]] = {}

    def text(self, language: Language, dictionaries: Entries) -> bytes:
        """Return the document as JSON; building it, also after a change of a dictionary, takes a fifth of a second."""
        entries, text = self._texts.get(language, (None, b""))
        if entries is not dictionaries:
            routes, collections = self._catalogue.routes, self._catalogue.collections.values()
            text = to_json(describe(routes, VERSION, language, dictionaries, collections))
            self._texts[language] = dictionaries, text
        return text


async def openapi(req: Request) -> bytes:
    """Return the OpenAPI 3.1 document; titles of fields and labels of dictionaries are in the caller's language."""
    dictionaries = await req.part(Dictionaries).current()
    return await asyncio.to_thread(req.part(Description).text, req.language, dictionaries)


async def docs(req: Request) -> Response:
    """Return the page for reading and trying the API; it loads nothing from other hosts."""
    return Response(200, await asyncio.to_thread(_read_own, "docs.html"), _PAGE_HEADERS, _HTML)


def _docs_file(endpoint: str, read: Callable[[], bytes], media_type: str, cache: str) -> Route:
    """Return the route of one file of the docs page."""

    async def docs_file(req: Request) -> Response:
        return Response(200, await asyncio.to_thread(read), {"Cache-Control": cache}, media_type)

    summary = f"File {endpoint.rpartition('/')[2]} of the documentation page"
    return route(endpoint, docs_file, summary=summary, access=PUBLIC, bare=media_type, tag="meta")


@lru_cache(maxsize=8)
def _read_own(name: str) -> bytes:
    return (files("handlers.docs") / name).read_bytes()


@lru_cache(maxsize=8)
def _read_packaged(name: str) -> bytes:
    return (files("swagger_ui") / "static" / name).read_bytes()


async def constants(req: Request) -> dict[str, Any]:
    """Return the constants that clients share: error codes, dictionaries, state machines, permissions."""
    catalogue, language = req.part(Catalogue), req.language
    dictionaries = await req.part(Dictionaries).current()
    return {
        "error_codes": [
            {"name": kind.name, "code": kind.code, "status": kind.status, "message": kind.message.text(language)}
            for kind in sorted(catalogue.errors, key=lambda kind: kind.code)
        ],
        "dictionaries": {type: options_of(entries, language) for type, entries in dictionaries.items()},
        "state_machines": {
            machine.name: {
                "initial": machine.initial,
                "states": {state: label.text(language) for state, label in machine.states.items()},
                "transitions": [
                    {
                        "action": action,
                        "from": list(one.sources),
                        "to": one.target,
                        "label": machine.label_of(action).text(language),
                    }
                    for action, one in machine.transitions.items()
                ],
            }
            for machine in catalogue.state_machines
        },
        "permissions": list(catalogue.permissions),
    }


_HEALTH = obj("Health", {"status": choice("ok", nullable=False)}, nullable=False)
_READINESS = obj(
    "Readiness",
    {
        "status": choice("ready", nullable=False),
        "checks": array(text(nullable=False), nullable=False, description="The checks that passed."),
    },
    nullable=False,
)
_PROCESS = obj(
    "ServiceProcess",
    {
        "process": text(nullable=False, description="Its number on this port, which is also a label of its metrics."),
        "pid": integer(nullable=False),
        "version": text(nullable=False),
    },
    nullable=False,
)
_PROCESSES = obj(
    "ServiceProcesses",
    {
        "status": choice("ok", nullable=False),
        "processes": array(_PROCESS, max_items=1000, nullable=False),
    },
    nullable=False,
)
_ERROR_CODE = obj(
    "ErrorCode",
    {
        "name": text(nullable=False),
        "code": integer(nullable=False, description="`code` of the envelope."),
        "status": integer(nullable=False, description="The HTTP status that comes with it."),
        "message": text(nullable=False),
    },
    nullable=False,
)
_OPTION = obj(
    "DictionaryOption",
    {
        "value": text(nullable=False),
        "label": text(nullable=False),
        "color": text(nullable=False),
        "disabled": boolean(
            nullable=False, description="True if it can no longer be chosen; it is still shown where it was."
        ),
    },
    nullable=False,
)
_TRANSITION = obj(
    "StateTransition",
    {
        "action": text(nullable=False),
        "from": array(text(nullable=False), nullable=False),
        "to": text(nullable=False),
        "label": text(nullable=False, description="The text of its button."),
    },
    nullable=False,
)
_STATE_MACHINE = obj(
    "StateMachine",
    {
        "initial": text(nullable=False),
        "states": mapping(text(nullable=False), nullable=False, description="State → label."),
        "transitions": array(_TRANSITION, nullable=False),
    },
    nullable=False,
)
_CONSTANTS = obj(
    "Constants",
    {
        "error_codes": array(_ERROR_CODE, max_items=10_000, nullable=False),
        "dictionaries": mapping(
            array(_OPTION, max_items=1000, nullable=False),
            nullable=False,
            description="By type, including what administrators added and changed.",
        ),
        "state_machines": mapping(_STATE_MACHINE, nullable=False, description="By name."),
        "permissions": array(text(nullable=False), max_items=10_000, nullable=False),
    },
    nullable=False,
)

_UNLISTED = Refusal(NOT_FOUND, hint=UNLISTED_ADDRESS)
_HTML = "text/html; charset=utf-8"
_SCRIPT = "text/javascript; charset=utf-8"
_FOR_A_DAY = "public, max-age=86400"

CORE_ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/health", health, summary="Check that the service is alive", access=PUBLIC, returns=_HEALTH, tag="meta"
    ),
    route(
        "GET /api/health/ready",
        ready,
        summary="Check that the service is ready",
        access=PUBLIC,
        returns=_READINESS,
        tag="meta",
    ),
    route(
        "GET /api/health/processes",
        processes,
        summary="Check that all processes of this port respond",
        access=PUBLIC,
        returns=_PROCESSES,
        tag="meta",
        refusals=(_UNLISTED,),
    ),
    route(
        "GET /metrics",
        metrics,
        summary="Prometheus metrics",
        access=PUBLIC,
        tag="meta",
        refusals=(_UNLISTED,),
        bare="text/plain; version=0.0.4; charset=utf-8",
    ),
    route(
        "GET /api/openapi.json",
        openapi,
        summary="This OpenAPI document",
        access=PUBLIC,
        bare="application/json",
        etag=True,
        tag="meta",
    ),
    route("GET /api/docs", docs, summary="Documentation page", access=PUBLIC, bare=_HTML, tag="meta"),
    _docs_file("GET /api/docs/start.js", partial(_read_own, "docs.js"), _SCRIPT, "no-cache"),
    _docs_file(
        "GET /api/docs/swagger-ui-bundle.js", partial(_read_packaged, "swagger-ui-bundle.js"), _SCRIPT, _FOR_A_DAY
    ),
    _docs_file(
        "GET /api/docs/swagger-ui.css", partial(_read_packaged, "swagger-ui.css"), "text/css; charset=utf-8", _FOR_A_DAY
    ),
    _docs_file("GET /api/docs/favicon.png", partial(_read_packaged, "favicon-32x32.png"), "image/png", _FOR_A_DAY),
    route(
        "GET /api/v1/meta/constants",
        constants,
        summary="Read the constants that clients share",
        access=PUBLIC,
        returns=_CONSTANTS,
        etag=True,
        tag="meta",
    ),
    PICKER_ROUTE,
    SEARCH_ROUTE,
)
