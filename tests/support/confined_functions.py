"""What tests have worker processes do."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path


def joined(pieces: Iterator[bytes], between: str = "") -> bytes:
    return between.encode().join(pieces)


def pid(pieces: Iterator[bytes]) -> bytes:
    return str(os.getpid()).encode()


def sleep(pieces: Iterator[bytes], seconds: float, begun: str = "") -> None:
    if begun:
        Path(begun).touch()
    time.sleep(seconds)


def spin(pieces: Iterator[bytes]) -> None:
    while True:
        pass


def hoard(pieces: Iterator[bytes], megabytes: int) -> bytes:
    return str(len(bytearray(megabytes << 20))).encode()


def scribble(pieces: Iterator[bytes], path: str) -> None:
    Path(path).write_bytes(b"x" * (2 << 20))


def refuse(pieces: Iterator[bytes], text: str) -> None:
    raise ValueError(text)


def refuse_first(pieces: Iterator[bytes]) -> None:
    raise LookupError(next(pieces).decode())


def environment(pieces: Iterator[bytes]) -> bytes:
    return "\n".join(os.environ).encode()


def chatter(pieces: Iterator[bytes]) -> bytes:
    print("a library says hello")
    os.write(1, b"and so does one in C")
    return b"".join(pieces)
