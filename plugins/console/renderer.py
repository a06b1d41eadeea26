"""The files of the renderer: where they are, and whether they are there yet. `tradewind fetch-console` fetches them."""

import asyncio
import json
import sys
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from plugins.api import PUBLIC, Message, Option, Request, array, choice, route, shape, text
from plugins.api.ports import OptionValues
from plugins.console.pages import Pages

_RUN = "scripts/fetch-console"
CURRENCY = Option(
    "currency_sign",
    text(max_length=8, default="¥", nullable=False),
    Message("金额的货币符号", "Sign of the currency of amounts"),
)
STATES = {
    "ready": Message("界面组件已就绪", "The console's components are ready"),
    "missing": Message(f"界面组件尚未下载：请运行 {_RUN}", f"The console's components are missing: run {_RUN}"),
    "fetching": Message("正在下载界面组件，请稍候", "The console's components are being downloaded; please wait"),
    "unreachable": Message(
        f"无法访问 npm 仓库，界面组件未能下载；服务其余部分不受影响。请检查网络后运行 {_RUN}",
        f"The npm registry is out of reach, so only the console does not work. Check the network, then run {_RUN}",
    ),
    "damaged": Message(
        f"下载的界面组件未通过校验，已丢弃。请检查 npm 仓库后运行 {_RUN}",
        f"The downloaded components failed verification and were discarded. Check the npm registry, then run {_RUN}",
    ),
}


@dataclass(frozen=True)
class Renderer:
    """The renderer's files, each stored compressed, in a folder of the environment that has the version in its name."""

    home: Path = field(default_factory=lambda: Path(sys.prefix) / "share" / "tradewind-console")

    @cached_property
    def pinned(self) -> dict[str, Any]:
        """What is pinned: the package, its version and integrity, the files, and some modules by their purpose."""
        found: dict[str, Any] = json.loads((files("plugins.console") / "renderer.json").read_bytes())
        return found

    @property
    def version(self) -> str:
        """The pinned version, and the edition, which changes with the parts of the release that are kept."""
        return f"{self.pinned['version']}-{self.pinned['edition']}"

    @property
    def folder(self) -> Path:
        """The folder of the files, once all of them are there."""
        return self.home / f"{self.pinned['package']}-{self.version}"

    @property
    def first(self) -> list[str]:
        """The files that every page needs; the renderer loads the others when something is drawn with them."""
        return [name for name in self.pinned["files"] if name not in self.pinned["when_needed"]]

    def state(self) -> str:
        """Return how far the download is: one of `STATES`."""
        if all((self.folder / f"{name}.gz").exists() for name in self.pinned["files"]):
            return "ready"
        try:
            noted = (self.home / "state").read_text().strip()
        except OSError:
            return "missing"
        return noted if noted in STATES and noted != "ready" else "missing"

    def compressed(self, name: str) -> bytes | None:
        """Return one of the files, compressed with gzip, or None if its name is unknown or it is not there yet."""
        try:
            return (self.folder / f"{name}.gz").read_bytes() if name in self.pinned["files"] else None
        except OSError:
            return None


async def renderer_state(req: Request) -> dict[str, object]:
    """Return how far the download of the renderer's files is; the page asks until they are there."""
    renderer, inbox = req.part(Renderer), req.part(Pages).site.inbox
    state, options = await asyncio.to_thread(renderer.state), req.service.parts.get(OptionValues)
    return {
        "state": state,
        "message": STATES[state].text(req.language),
        "version": renderer.version,
        "files": renderer.first,
        "time_zone": req.service.settings.time_zone,
        "currency": await options.value(CURRENCY.key) if options is not None else CURRENCY.default,
        "inbox": inbox.at if inbox is not None else "",
        **renderer.pinned["modules"],
    }


_STATE = shape(
    "ConsoleRenderer",
    state=choice(*STATES, nullable=False),
    message=text(nullable=False, description="For the person who is waiting."),
    version=text(nullable=False),
    files=array(text(nullable=False), nullable=False),
    zones=text(nullable=False, description="The module of the renderer that knows time zones."),
    charts=text(nullable=False, description="The module of the renderer that draws charts."),
    inbox=text(nullable=False, description="The path of the inbox, a list with a WebSocket; empty without one."),
    time_zone=text(nullable=False, description="The business time zone, in which the page shows moments."),
    currency=text(nullable=False, description="The sign before the amounts of figures."),
)
_AT, _SUMMARY = "GET /api/v1/console/renderer", "Read whether the console's components are ready"
ROUTES = (route(_AT, renderer_state, summary=_SUMMARY, access=PUBLIC, returns=_STATE, tag="console"),)
