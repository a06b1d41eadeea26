"""Encrypts and decrypts a stream in the age format (https://age-encryption.org/v1) while it is written or read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import BinaryIO

import pyrage

from plugins.commands.backups.errors import BackupError
from plugins.commands.backups.keys import Key

MAGIC = b"age-encryption.org/"
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
    source, target = _pipe()
    with ThreadPoolExecutor(1) as thread:
        encrypted = thread.submit(_encrypt, source, output, key)
        try:
            with target:
                yield target
        except BrokenPipeError:
            encrypted.result()  # has the reason
            raise
        encrypted.result()


@contextmanager
def decrypting(source: BinaryIO, key: Key, name: str) -> Iterator[BinaryIO]:
    """Give the block a file with what `source` has encrypted. Raises `BackupError` for another key, and `EOFError`."""
    target, writing = _pipe()
    identity = pyrage.x25519.Identity.from_str(key.identity)
    with ThreadPoolExecutor(1) as thread:
        decrypted = thread.submit(_decrypt, source, writing, identity)
        try:
            with target:
                yield target
        finally:
            failure = decrypted.exception()
            if isinstance(failure, pyrage.DecryptError) and str(failure) == _NO_MATCH:
                raise BackupError(f"{name} was encrypted with another key than this one.") from failure
        if failure is not None:
            raise EOFError(str(failure)) from failure


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    source, target = os.pipe()
    return os.fdopen(source, "rb"), os.fdopen(target, "wb")


def _encrypt(source: BinaryIO, output: Output, key: Key) -> None:
    with source:
        try:
            pyrage.encrypt_io(source, output, [key.recipient])
        except pyrage.EncryptError as error:
            raise (output.error or error) from error


def _decrypt(source: BinaryIO, target: BinaryIO, identity: pyrage.x25519.Identity) -> None:
    with target:
        pyrage.decrypt_io(source, target, [identity])
