"""The worker process, which runs one job after another: `python -m handlers.confined.worker`.

Standard input is a socket to the service. A frame is a kind, a length of four bytes, and a body of that length. A job
consists of `JOB` (JSON: the function, its arguments, its limits), any number of `PIECE`, and `END`; the reply consists
of `RESULT` and `DONE` (JSON: the failure, and the processor time). The process ends when the service closes the socket.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import socket
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import orjson

JOB, PIECE, END, RESULT, DONE = range(5)
HEAD = struct.Struct("!BI")
MAX_TEXT = 2000  # of a failure
_LARGE_BYTES = 128 << 20  # a process that grew to this size is not used again


def main() -> None:
    """Run the jobs that arrive on the socket at standard input until it closes."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the service handles these signals and ends its workers itself
    os.nice(10)  # requests come first
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    channel = socket.socket(fileno=os.dup(0))
    _silence()
    with channel, channel.makefile("rb") as stream:
        while (head := _frame(stream)) is not None:
            _serve(channel, stream, orjson.loads(head[1]))


def _silence() -> None:
    """Redirect standard input and output, so that no library reads or writes the channel."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nothing, number)
    os.close(nothing)


def _serve(channel: socket.socket, stream: BinaryIO, job: dict[str, Any]) -> None:
    pieces = _pieces(stream)
    failure: dict[str, str] | None = None
    result, began = b"", resource.getrusage(resource.RUSAGE_SELF)
    try:
        function = _function(job["function"])
        _limit(job)
        result = function(pieces, *job["arguments"]) or b""
    except MemoryError:
        failure = {"kind": "MemoryError", "text": ""}
    except Exception as error:
        failure = {"kind": type(error).__name__, "text": str(error)[:MAX_TEXT]}
    used = resource.getrusage(resource.RUSAGE_SELF)
    done = {
        "failure": failure,
        "cpu_seconds": used.ru_utime + used.ru_stime - began.ru_utime - began.ru_stime,
        "reusable": _is_small() and (failure is None or failure["kind"] != "MemoryError"),
    }
    _send(channel, RESULT, result)
    _send(channel, DONE, orjson.dumps(done))
    for _ in pieces:  # skip the input that the job did not read
        pass


def _limit(job: dict[str, Any]) -> None:
    """Set the limits of this job, which the kernel enforces: memory, size of files, processor time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + job["cpu_seconds"]
    limits = {
        resource.RLIMIT_AS: job["memory_bytes"],
        resource.RLIMIT_FSIZE: job["file_bytes"],
        resource.RLIMIT_CPU: seconds,
    }
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def _is_small() -> bool:
    """Return whether this process uses little memory now. The peak that the kernel reports may be the parent's."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() < _LARGE_BYTES
    except OSError:
        return False


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while (frame := _frame(stream)) is not None and frame[0] == PIECE:
        yield frame[1]


def _frame(stream: BinaryIO) -> tuple[int, bytes] | None:
    """Read the next frame; return None after the service has closed the socket."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    kind, length = HEAD.unpack(head)
    body = stream.read(length)
    return (kind, body) if len(body) == length else None


def _send(channel: socket.socket, kind: int, body: bytes) -> None:
    channel.sendall(HEAD.pack(kind, len(body)) + body)


if __name__ == "__main__":
    main()
