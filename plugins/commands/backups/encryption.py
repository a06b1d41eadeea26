"""Encrypts and decrypts a stream in the age format (https://age-encryption.org/v1) while it is written or read."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO

import pyrage

from plugins.commands.backups.keys import Key
from plugins.commands.backups.progress import BackupError

MAGIC = b"age-encryption.org/"
THREAD = "age"
_NO_MATCH = "No matching keys found"


class Output:
    """The file to which a backup is written: counts its bytes, and keeps its error, which pyrage turns into a text."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        """Write all of `data`."""
        try:
            self._file.write(data)
        except OSError as error:
            self.error = error
            raise
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: whoever opened the file flushes it."""


@contextmanager
def encrypting(output: Output, key: Key) -> Iterator[BinaryIO]:
    """Give the block a file; what is written there arrives in `output`, encrypted in another thread."""
    recipient = key.recipient
    source, target = _pipe()
    encrypted = _in_thread(partial(_encrypt, source, output, recipient))
    try:
        with target:
            yield target
    except BrokenPipeError:
        encrypted.result()  # has the reason
        raise
    finally:
        wait([encrypted])
    encrypted.result()


@contextmanager
def decrypting(source: BinaryIO, key: Key, name: str) -> Iterator[BinaryIO]:
    """Give the block a file with what `source` has encrypted. Raises `BackupError` for another key, and `EOFError`."""
    identity = pyrage.x25519.Identity.from_str(key.identity)
    target, writing = _pipe()
    decrypted = _in_thread(partial(_decrypt, source, writing, identity))
    try:
        with target:
            yield target
    finally:
        failure = decrypted.exception()
        if isinstance(failure, pyrage.DecryptError) and str(failure) == _NO_MATCH:
            raise BackupError(f"{name} was encrypted with another key than this one.") from failure
    if failure is not None:
        raise EOFError(str(failure)) from failure


def _in_thread(work: Callable[[], None]) -> Future[None]:
    """Start `work` in a thread that does not keep the process from ending."""
    future: Future[None] = Future()

    def run() -> None:
        try:
            work()
            future.set_result(None)
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name=THREAD, daemon=True).start()
    return future


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    source, target = os.pipe()
    return os.fdopen(source, "rb"), os.fdopen(target, "wb")


def _encrypt(source: BinaryIO, output: Output, recipient: pyrage.x25519.Recipient) -> None:
    with source:
        try:
            pyrage.encrypt_io(source, output, [recipient])
        except pyrage.EncryptError as error:
            raise (output.error or error) from error


def _decrypt(source: BinaryIO, target: BinaryIO, identity: pyrage.x25519.Identity) -> None:
    with target:
        pyrage.decrypt_io(source, target, [identity])
