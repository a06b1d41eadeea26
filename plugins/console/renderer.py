"""The files of the renderer: where they are, and how far their arrival is. `scripts/fetch-console` brings them."""

import gzip
import json
import sys
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from plugins.api import Message

MEDIA = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
_RUN = "scripts/fetch-console"
STATES = {
    "ready": Message("界面组件已就绪", "The console's components are here"),
    "missing": Message(f"界面组件尚未下载：请运行 {_RUN}", f"The console's components are missing: run {_RUN}"),
    "fetching": Message("正在下载界面组件，请稍候", "The console's components are being downloaded"),
    "unreachable": Message(
        f"无法访问 npm 仓库，界面组件未能下载；服务其余部分不受影响。请检查网络后运行 {_RUN}",
        f"The npm registry is out of reach, so only the console does not work. Check the network, then run {_RUN}",
    ),
    "damaged": Message(
        f"下载的界面组件校验不符，已丢弃。请检查 npm 仓库后运行 {_RUN}",
        f"What the npm registry sent is not the pinned release. Check the registry, then run {_RUN}",
    ),
}


@dataclass(frozen=True)
class Renderer:
    """The renderer's files, each stored compressed, in a folder of the environment that is named by the version."""

    home: Path = field(default_factory=lambda: Path(sys.prefix) / "share" / "tradewind-console")

    @cached_property
    def pinned(self) -> dict[str, object]:
        """What is pinned: package, version, integrity and files."""
        found: dict[str, object] = json.loads((files("plugins.console") / "renderer.json").read_bytes())
        return found

    @property
    def version(self) -> str:
        """The pinned version."""
        return str(self.pinned["version"])

    @property
    def names(self) -> list[str]:
        """The files that are needed."""
        listed = self.pinned["files"]
        return [str(name) for name in listed] if isinstance(listed, list) else []

    @property
    def folder(self) -> Path:
        """Where the files are, once all have come."""
        return self.home / f"{self.pinned['package']}-{self.version}"

    def state(self) -> str:
        """How far the files are: one of `STATES`."""
        if all((self.folder / f"{name}.gz").exists() for name in self.names):
            return "ready"
        try:
            noted = (self.home / "state").read_text().strip()
        except OSError:
            return "missing"
        return noted if noted in STATES and noted != "ready" else "missing"

    def compressed(self, name: str) -> bytes | None:
        """One of the files, compressed with gzip; None for another name, or before it came."""
        if name not in self.names:
            return None
        try:
            return (self.folder / f"{name}.gz").read_bytes()
        except OSError:
            return None

    def whole(self, name: str) -> bytes | None:
        """One of the files as it is."""
        found = self.compressed(name)
        return found if found is None else gzip.decompress(found)
