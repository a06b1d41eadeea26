"""What a browser loads: the shell, our own few files, and those of the renderer. Nothing comes from another host."""

import asyncio
from importlib.resources import files
from pathlib import PurePath

from plugins.api import (
    NOT_FOUND,
    PUBLIC,
    ApiError,
    Handler,
    Message,
    Refusal,
    Request,
    Response,
    Route,
    array,
    choice,
    route,
    shape,
    text,
)
from plugins.console.pages import Pages
from plugins.console.renderer import MEDIA, STATES, Renderer

_STATIC = files("plugins.console") / "static"
OWN = tuple(sorted(one.name for one in _STATIC.iterdir() if PurePath(one.name).suffix in MEDIA))
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HTML = "text/html; charset=utf-8"
_FILES = "text/javascript, text/css"
_CHECKED = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
_KEPT = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


async def shell(req: Request) -> Response:
    """The page that everything else is drawn in."""
    body = await asyncio.to_thread(_read, "console.html")
    return Response(200, body, {**_CHECKED, "Content-Security-Policy": POLICY}, _HTML)


async def own_file(req: Request) -> Response:
    """One of our own files. Raises 40400."""
    name = req.path["file"]
    if name not in OWN:
        raise ApiError(NOT_FOUND)
    return Response(200, await asyncio.to_thread(_read, name), _CHECKED, MEDIA[PurePath(name).suffix])


async def renderer_file(req: Request) -> Response:
    """One of the renderer's files, compressed for clients that take it. Raises 40400 for others, and before it came."""
    renderer, name = req.part(Renderer), req.path["file"]
    compressed = "gzip" in req.headers.get("Accept-Encoding", "")
    read = renderer.compressed if compressed else renderer.whole
    body = await asyncio.to_thread(read, name) if req.path["version"] == renderer.version else None
    if body is None:
        raise ApiError(NOT_FOUND)
    encoding = {"Content-Encoding": "gzip"} if compressed else {}
    return Response(200, body, {**_KEPT, "Vary": "Accept-Encoding", **encoding}, MEDIA[PurePath(name).suffix])


async def renderer_state(req: Request) -> dict[str, object]:
    """How far the renderer's files are; the page asks until they are there."""
    renderer, inbox = req.part(Renderer), req.part(Pages).site.inbox
    state = await asyncio.to_thread(renderer.state)
    return {
        "state": state,
        "message": STATES[state].text(req.language),
        "version": renderer.version,
        "files": renderer.names,
        "time_zone": req.service.settings.time_zone,
        "inbox": inbox.at if inbox is not None else "",
        "zones": renderer.pinned["zones"],
    }


def _read(name: str) -> bytes:
    return (_STATIC / name).read_bytes()


_NO_FILE = Refusal(
    NOT_FOUND, hint=Message("没有这样的文件，或尚未下载", "There is no such file, or it has not come yet")
)
_STATE = shape(
    "ConsoleRenderer",
    state=choice(*STATES, nullable=False),
    message=text(nullable=False, description="For the person who waits."),
    version=text(nullable=False),
    files=array(text(nullable=False), nullable=False),
    zones=text(nullable=False, description="The module of the renderer that knows time zones."),
    inbox=text(nullable=False, description="The path of the list with a WebSocket for its news; empty without one."),
    time_zone=text(nullable=False, description="The business time zone, in which the page shows moments."),
)
_IS_THERE = "Whether the console's renderer is there"


def _file_route(name: str, handler: Handler, summary: str) -> Route:
    return route(name, handler, summary=summary, access=PUBLIC, bare=_FILES, refusals=(_NO_FILE,), tag="console")


ROUTES: tuple[Route, ...] = (
    route("GET /console", shell, summary="The console", access=PUBLIC, bare=_HTML, tag="console"),
    _file_route("GET /console/{file}", own_file, "A file of the console"),
    _file_route("GET /console/renderer/{version}/{file}", renderer_file, "A file of the console's renderer"),
    route(
        "GET /api/v1/console/renderer", renderer_state, summary=_IS_THERE, access=PUBLIC, returns=_STATE, tag="console"
    ),
)
