"""An S3 that only moves bytes, so that figures tell of the service: `python -m scripts.benchmark.lean_s3 FOLDER`.

It keeps parts as files, joins them by name, and knows no bucket, no signature and no error. moto, with which the tests
hold the service against the protocol, needs several times the processor time of the service for the same upload.
"""

from __future__ import annotations

import itertools
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from urllib.parse import parse_qs, urlsplit

from scripts.benchmark.foundation import ROOT

BUFFER_BYTES = 1 << 20
_NUMBERS = itertools.count(1)


class LeanS3(ThreadingTCPServer):
    """Listens on a free port of this machine; a thread for each connection."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.folder = folder
        self.uploads: dict[str, dict[int, Path]] = {}
        self.objects: dict[str, list[Path]] = {}

    def new_file(self) -> Path:
        """A name for some bytes."""
        return self.folder / f"bytes-{next(_NUMBERS)}"

    def forget(self, paths: list[Path]) -> None:
        """Give the room back."""
        for path in paths:
            path.unlink(missing_ok=True)


class _Connection(StreamRequestHandler):
    """One client's requests, one after the other."""

    server: LeanS3
    disable_nagle_algorithm = True

    def handle(self) -> None:
        buffer = bytearray(BUFFER_BYTES)
        while line := self.rfile.readline():
            method, target, _ = line.decode().split()
            headers = dict(self._headers())
            if "100-continue" in headers.get("expect", ""):
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            address = urlsplit(target)
            query = parse_qs(address.query, keep_blank_values=True)
            length = int(headers.get("content-length", "0"))
            body = self._store(length, memoryview(buffer))
            self._answer(method, address.path, query, headers.get("range", ""), body)
            if headers.get("connection") == "close":
                return

    def _headers(self) -> Iterator[tuple[str, str]]:
        while line := self.rfile.readline().strip().decode():
            name, _, value = line.partition(":")
            yield name.lower(), value.strip()

    def _store(self, length: int, buffer: memoryview) -> Path | None:
        if not length:
            return None
        path = self.server.new_file()
        with path.open("wb", buffering=0) as file:
            while length:
                count = self.rfile.readinto1(buffer[: min(length, BUFFER_BYTES)])
                if not count:
                    raise ConnectionError("the client went away")
                file.write(buffer[:count])
                length -= count
        return path

    def _answer(self, method: str, key: str, query: dict[str, list[str]], part: str, body: Path | None) -> None:
        server, upload = self.server, query.get("uploadId", [""])[0]
        if "uploads" in query and method == "GET":
            self._say(b"<ListMultipartUploadsResult/>")
        elif method in ("GET", "HEAD"):
            self._give(method, key, part)
        elif method == "PUT" and body is not None:
            if upload:
                server.uploads[upload][int(query["partNumber"][0])] = body
            else:
                server.objects[key] = [body]
            self._say(b"")
        elif method == "POST" and upload:
            server.objects[key] = [path for _, path in sorted(server.uploads.pop(upload).items())]
            if body:
                body.unlink()
            self._say(b'<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>')
        elif method == "POST":
            name = str(next(_NUMBERS))
            server.uploads[name] = {}
            self._say(
                f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>".encode()
            )
        else:
            server.forget([*server.uploads.pop(upload, {}).values()] if upload else server.objects.pop(key, []))
            self._say(b"")

    def _give(self, method: str, key: str, asked: str) -> None:
        """An object, or one range of it."""
        paths = self.server.objects.get(key, [])
        sizes = [path.stat().st_size for path in paths]
        size = sum(sizes)
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", asked)
        start = int(found[1]) if found else 0
        stop = min(int(found[2]) + 1, size) if found and found[2] else size
        more = (f"Content-Range: bytes {start}-{stop - 1}/{size}",) if found else ()
        self._say(b"", "206 Partial Content" if found else "200 OK", stop - start, *more)
        if method == "HEAD":
            return
        at = 0
        for path, length in zip(paths, sizes, strict=True):
            first, last = max(start - at, 0), min(stop - at, length)
            if first < last:
                with path.open("rb") as file:
                    _send(self.connection, file.fileno(), first, last)
            at += length

    def _say(self, body: bytes, status: str = "200 OK", length: int | None = None, *more: str) -> None:
        lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", 'ETag: "x"', *more)
        self.wfile.write("\r\n".join((*lines, "", "")).encode() + body)


def _send(connection: socket.socket, file: int, start: int, stop: int) -> None:
    while start < stop:
        start += os.sendfile(connection.fileno(), file, start, stop - start)


@contextmanager
def lean_s3(folder: Path) -> Iterator[str]:
    """The address of one that ends with the block."""
    folder.mkdir()
    command = [sys.executable, "-m", "scripts.benchmark.lean_s3", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        try:
            line = process.stdout.readline() if process.stdout else b""
            yield f"http://127.0.0.1:{int(line)}"
        finally:
            process.kill()


if __name__ == "__main__":
    with LeanS3(Path(sys.argv[1])) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
