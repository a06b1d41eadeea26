"""The processes of an experiment: a MongoDB replica set and Tradewind servers, on the loopback interface only."""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from config.embedded.mongod import find_mongod

ROOT = Path(__file__).resolve().parent.parent.parent
ADMIN_PASSWORD = "Fault-Test-2026!"
_USER, _SECRET = "fault", "fault-secret"
_SIGNING_SECRET = "m1XxT0p9sVb3Qe7RzU5yLw8kJc2HdGf4aN6oPiEt"
_PROBE_MS = 800
LOW_PRIORITY = 10  # a nice value, see setpriority(2)


def free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on at the moment."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_until(condition: Callable[[], Any], seconds: float, every: float = 0.1) -> None:
    """Poll `condition` until it is true. Raises `TimeoutError` after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        with suppress(PyMongoError):
            if condition():
                return
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds} s: {condition}")
        time.sleep(every)


@contextmanager
def low_priority() -> Iterator[None]:
    """Run the calling thread, which has the clients, at a low priority. It stays if this user may not raise it again."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, max(before, LOW_PRIORITY))
    try:
        yield
    finally:
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, before)


class ReplicaSet:
    """A replica set with authentication whose members can be killed, frozen and started again.

    `nice`: of its members, see setpriority(2); with `LOW_PRIORITY` they take little processor time from the servers, as
    on machines of their own.
    """

    def __init__(
        self,
        folder: Path,
        members: int = 3,
        election_ms: int = 10_000,
        cache_gb: float = 0.3,
        failpoints: bool = False,
        name: str = "faults",
        oplog_mb: int = 256,
        checkpoint_seconds: int = 60,
        nice: int = 0,
    ) -> None:
        self.folder = folder
        self.name = name
        self._oplog_mb = oplog_mb
        self._checkpoint_seconds = checkpoint_seconds
        self.ports = free_ports(members)
        self.election_ms = election_ms
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self._cache_gb = cache_gb
        self._failpoints = failpoints
        self._nice = nice

    @property
    def uri(self) -> str:
        """The connection string of the whole set."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return f"mongodb://{_USER}:{_SECRET}@{hosts}/?replicaSet={self.name}&authSource=admin"

    def start(self) -> ReplicaSet:
        """Start every member, initiate the set and wait for a primary."""
        self.folder.mkdir(parents=True)
        key = self.folder / "key"
        key.write_text(base64.b64encode(secrets.token_bytes(180)).decode())
        key.chmod(0o600)
        for port in self.ports:
            self.start_member(port)
        first: MongoClient[dict[str, Any]] = MongoClient(
            "127.0.0.1", self.ports[0], directConnection=True, serverSelectionTimeoutMS=20_000
        )
        members = [
            {"_id": n, "host": f"127.0.0.1:{port}", "priority": 2 if n == 0 else 1} for n, port in enumerate(self.ports)
        ]
        config = {"_id": self.name, "members": members, "settings": {"electionTimeoutMillis": 2000}}
        wait_until(lambda: first.admin.command("replSetInitiate", config), 30, every=0.3)
        wait_until(lambda: first.admin.command("hello")["isWritablePrimary"], 30)
        first.admin.command("createUser", _USER, pwd=_SECRET, roles=["root"])
        first.close()
        self.reconfigure(electionTimeoutMillis=self.election_ms)
        return self

    def start_member(self, port: int) -> None:
        """Start one member, for the first time or again."""
        folder = self.folder / str(port)
        folder.mkdir(exist_ok=True)
        parameters = ["diagnosticDataCollectionEnabled=false"]
        parameters += ["enableTestCommands=1"] if self._failpoints else []
        arguments = [
            *("--port", str(port), "--dbpath", str(folder), "--replSet", self.name, "--bind_ip", "127.0.0.1"),
            *("--keyFile", str(self.folder / "key"), "--auth", "--nounixsocket"),
            *("--oplogSize", str(self._oplog_mb), "--syncdelay", str(self._checkpoint_seconds)),
            *("--wiredTigerCacheSizeGB", str(self._cache_gb), "--networkMessageCompressors", "disabled"),
            *("--logpath", str(folder / "log"), "--logappend"),
            *(part for parameter in parameters for part in ("--setParameter", parameter)),
        ]
        # a process inherits the priority of the thread that starts it, and `nice` adds to that
        more = max(0, self._nice - os.getpriority(os.PRIO_PROCESS, 0))
        self.processes[port] = subprocess.Popen(
            ["nice", "-n", str(more), str(find_mongod()), *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def reconfigure(self, **settings: int) -> None:
        """Change settings of the set, and give its members equal priority."""
        with self.client() as client:
            config = client.admin.command("replSetGetConfig")["config"]
            config["version"] += 1
            config["settings"].update(settings)
            for member in config["members"]:
                member["priority"] = 1
            self.wait_for_primary()
            client.admin.command("replSetReconfig", config)

    def client(self, port: int | None = None, limit_ms: int = _PROBE_MS) -> MongoClient[dict[str, Any]]:
        """Open a client of the set, or of only the member at `port`, with short time limits."""
        if port is None:
            return MongoClient(self.uri, serverSelectionTimeoutMS=40_000)
        limits: dict[str, Any] = dict.fromkeys(
            ("serverSelectionTimeoutMS", "socketTimeoutMS", "connectTimeoutMS"), limit_ms
        )
        return MongoClient(
            "127.0.0.1",
            port,
            username=_USER,
            password=_SECRET,
            authSource="admin",
            directConnection=True,
            **limits,
        )

    def primary(self) -> int | None:
        """Return the port of the primary, or None if there is none."""
        for port, process in self.processes.items():
            if process.poll() is None and not is_frozen(process.pid):
                with suppress(PyMongoError), self.client(port) as client:
                    if client.admin.command("hello").get("isWritablePrimary"):
                        return port
        return None

    def wait_for_primary(self, seconds: float = 40) -> int:
        """Wait for a primary, and return its port."""
        found: list[int] = []

        def look() -> bool:
            port = self.primary()
            found.extend([port] if port is not None else [])
            return bool(found)

        wait_until(look, seconds)
        return found[-1]

    def wait_for_health(self, seconds: float = 60) -> None:
        """Wait until every member is a primary or a secondary."""

        def healthy() -> bool:
            with self.client(self.wait_for_primary()) as client:
                members = client.admin.command("replSetGetStatus")["members"]
            return all(member["state"] in (1, 2) and member["health"] == 1 for member in members)

        wait_until(healthy, seconds)

    def kill(self, port: int) -> None:
        """End a member with SIGKILL."""
        self.processes[port].kill()
        self.processes[port].wait()

    def freeze(self, port: int) -> None:
        """Freeze a member with SIGSTOP."""
        self.processes[port].send_signal(signal.SIGSTOP)

    def thaw(self, port: int) -> None:
        """Resume a frozen member."""
        self.processes[port].send_signal(signal.SIGCONT)

    def step_down(self) -> None:
        """Ask the primary to become a secondary for ten seconds."""
        with suppress(PyMongoError), self.client(self.wait_for_primary()) as client:
            client.admin.command("replSetStepDown", 10, secondaryCatchUpPeriodSecs=5)

    def stop(self) -> None:
        """End every member."""
        end_all(list(self.processes.values()))


def end_all(processes: list[subprocess.Popen[bytes]], seconds: float = 15) -> None:
    """Ask processes to end, and kill those that have not ended after `seconds`."""
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
    for process in processes:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def is_frozen(pid: int) -> bool:
    """Return whether a process was stopped by a signal."""
    return _stat(pid)[0] == "T"


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Server:
    """One `server.py` in production mode; `log` is the file of its output."""

    def __init__(self, folder: Path, name: str, port: int, uri: str = "", source: Path = ROOT, **settings: str) -> None:
        self.port, self.name, self.uri, self.source = port, name, uri, source
        self.log = folder / f"{name}.log"
        given = {
            "mongodb_uri": uri,
            "jwt_secret": _SIGNING_SECRET,
            "rate_limits": "off",
            "logins_per_minute": "1000000",
            "admin_password": ADMIN_PASSWORD,
            "data_dir": str(folder / "data"),
            "demo": "false",
            "bcrypt_cost": "4",
            **settings,
        }
        ours = {f"TRADEWIND_{key.upper()}": value for key, value in given.items() if value}
        kept = {key: value for key, value in os.environ.items() if not key.startswith("TRADEWIND_")}
        self.env = {**kept, **ours}
        self.arguments: tuple[str, ...] = ()
        self.process: subprocess.Popen[bytes] | None = None
        self.ready_after = 0.0
        self._offset = 0

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        if self.process is None:
            raise RuntimeError(f"{self.name} was not started")
        return self.process.pid

    def spawn(self) -> None:
        """Start the process without waiting for it."""
        self._offset = self.log.stat().st_size if self.log.exists() else 0
        command = [sys.executable, "server.py", "--port", str(self.port), *self.arguments]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.source, env=self.env, stdout=log, stderr=log)

    def start(self, seconds: float = 150) -> Server:
        """Start the server, and wait until its log says that it is ready."""
        began = time.monotonic()
        self.spawn()
        wait_until(self.is_ready, seconds, every=0.02)
        self.ready_after = time.monotonic() - began
        return self

    async def start_again(self) -> None:
        """Do the same as `start`, from a coroutine."""
        await asyncio.to_thread(self.start)

    def is_ready(self) -> bool:
        """Return whether the log of this start has the line `ready`. Raises `RuntimeError` if the process has ended."""
        with self.log.open("rb") as log:
            log.seek(self._offset)
            written = log.read()
        if self.process is None or self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended: {written[-2000:].decode(errors='replace')}")
        return b'"message": "ready"' in written or b'"message":"ready"' in written

    def kill(self) -> None:
        """End the process with SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def kill_serving(self) -> None:
        """End the server under a supervisor (`--processes 1`) with SIGKILL."""
        (fork_server,) = _children(self.pid)
        (server,) = _children(fork_server)
        os.kill(server, signal.SIGKILL)

    def freeze(self) -> None:
        """Freeze the process with SIGSTOP."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Resume the process, if it is running."""
        if self.process is not None and self.process.poll() is None:
            os.kill(self.pid, signal.SIGCONT)

    def hang_up(self) -> None:
        """Ask a supervisor to replace its servers, with SIGHUP."""
        os.kill(self.pid, signal.SIGHUP)

    def stop(self, seconds: float = 40) -> int | None:
        """Ask the process to end, and return its exit code, or None if it had to be killed or was never started."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
                return None
        return self.process.returncode

    def rss_mib(self) -> float:
        """Return the resident memory, in MiB."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)

    def handles(self) -> int:
        """Return the number of open file descriptors."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def errors(self) -> list[str]:
        """Return the log lines of level ERROR, of all starts."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line[:1500] for line in lines if '"level": "ERROR"' in line or '"level":"ERROR"' in line]

    def ledgers(self) -> str:
        """Return the differences that `scripts/verify-ledgers` finds in this server's database, or an empty string."""
        command = [sys.executable, "scripts/verify-ledgers"]
        done = subprocess.run(command, cwd=self.source, env=self.env, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else (done.stdout + done.stderr)[-600:]
