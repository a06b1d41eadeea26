"""What a plain Tornado streaming handler does with a file: the measure for ours. `python plain_server.py FOLDER`."""

import asyncio
import hashlib
import os
import sys
from pathlib import Path

import uvloop
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler, stream_request_body

BLOCK = 256 << 10


@stream_request_body
class Plain(RequestHandler):
    """PUT writes the body to a file, GET reads it back."""

    def initialize(self, path: Path) -> None:
        self.path = path

    def prepare(self) -> None:
        if self.request.method == "PUT":
            self.file = self.path.open("wb")

    def data_received(self, chunk: bytes) -> None:
        self.file.write(chunk)

    def put(self) -> None:
        self.file.close()

    async def get(self) -> None:
        with self.path.open("rb") as file:
            while block := file.read(BLOCK):
                self.write(block)
                await self.flush()


class Careful(Plain):
    """The same with what a file of ours must have: its SHA-256, and its bytes on the disk before the answer."""

    def prepare(self) -> None:
        super().prepare()
        self.hash = hashlib.sha256()

    def data_received(self, chunk: bytes) -> None:
        super().data_received(chunk)
        self.hash.update(chunk)

    def put(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        self.finish(self.hash.hexdigest())


KINDS = {"plain": Plain, "careful": Careful}


async def main(folder: Path) -> None:
    application = Application([(f"/{name}", kind, {"path": folder / "file"}) for name, kind in KINDS.items()])
    server = HTTPServer(application, max_body_size=1 << 40)
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    print(sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1])))
