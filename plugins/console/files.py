"""The files that a browser loads: the shell, the console's own files, and the renderer's. None is on another host."""

import asyncio
from importlib.resources import files
from pathlib import PurePath

from plugins.api import NOT_FOUND, PUBLIC, ApiError, Message, Refusal, Request, Response, Route, route
from plugins.console.renderer import Renderer

MEDIA = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
_STATIC = files("plugins.console") / "static"
_WORKER = "worker.js"
OWN = tuple(sorted(one.name for one in _STATIC.iterdir() if PurePath(one.name).suffix in MEDIA))
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HTML = "text/html; charset=utf-8"
_CHECKED = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
_KEPT = {**_CHECKED, "Cache-Control": "public, max-age=31536000, immutable", "Content-Encoding": "gzip"}


async def shell(req: Request) -> Response:
    """Return the page in which everything is drawn; it names the scripts, so that they load during the log-in."""
    renderer = req.part(Renderer)
    body, state = await asyncio.to_thread(lambda: (_read("console.html"), renderer.state()))
    scripts = [name for name in OWN if name.endswith(".js") and name != _WORKER]
    links = [f'<link rel="modulepreload" href="console/{name}">' for name in scripts]
    if state == "ready":
        of_renderer = f'<link rel="preload" as="script" href="console/renderer/{renderer.version}/'
        links += [f'{of_renderer}{name}">' for name in renderer.first if name.endswith(".js")]
    body = body.replace(b"<!-- links -->", "\n  ".join(links).encode())
    return Response(200, body, {**_CHECKED, "Content-Security-Policy": POLICY}, _HTML)


async def file(req: Request) -> Response:
    """Return one of the console's own files or one of the renderer's, which are stored compressed. Raises 40400."""
    renderer, name, version = req.part(Renderer), req.path["file"], req.path.get("version")
    if version is None and name in OWN:
        # the worker is below the page that it works for: its scope is one step up
        headers = {**_CHECKED, "Service-Worker-Allowed": "../console"} if name == _WORKER else _CHECKED
        return Response(200, await asyncio.to_thread(_read, name), headers, MEDIA[PurePath(name).suffix])
    body = await asyncio.to_thread(renderer.compressed, name) if version == renderer.version else None
    if body is None:
        raise ApiError(NOT_FOUND)
    return Response(200, body, _KEPT, MEDIA[PurePath(name).suffix])


def _read(name: str) -> bytes:
    return (_STATIC / name).read_bytes()


def _file_route(name: str, summary: str) -> Route:
    hint = Message("文件不存在，或尚未下载", "There is no such file, or it has not been downloaded yet")
    refused = (Refusal(NOT_FOUND, hint=hint),)
    bare = ", ".join(media.partition(";")[0] for media in MEDIA.values())
    return route(name, file, summary=summary, access=PUBLIC, bare=bare, refusals=refused, tag="console")


ROUTES: tuple[Route, ...] = (
    route("GET /console", shell, summary="The console", access=PUBLIC, bare=_HTML, tag="console"),
    _file_route("GET /console/{file}", "A file of the console"),
    _file_route("GET /console/renderer/{version}/{file}", "A file of the console's renderer"),
)
