"""The fork server: a process that has loaded everything, forks the servers of a generation and reports how they end.

It has neither threads nor an event loop, because a child inherits only the thread that forks.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from config.listening import close_sockets
from config.process import stop_with_parent
from config.supervision.link import Link, Message

CRASHED = 70  # EX_SOFTWARE: an exception that nobody caught


@dataclass(frozen=True)
class Inherited:
    """What a forked server inherits from its supervisor. `first`: it is the first server that the supervisor starts."""

    sockets: list[socket.socket]
    first: bool
    _link: Link

    def report_ready(self) -> None:
        """Tell the supervisor that this process is ready to serve."""
        self._link.send({"kind": "ready", "pid": os.getpid()})


def fork_servers(descriptor: int, loaded: Message, serve: Callable[[Inherited], int]) -> int:
    """Fork a server whenever the supervisor at the other end of `descriptor` asks for one; return the exit code.

    It ends when the supervisor is gone. `loaded` is what the supervisor needs to know: `host`, `port`, `unix_socket`,
    `unix_socket_mode`, `log_level` and `stop_seconds`. Each server exits with what `serve` returns.
    """
    try:
        return _ForkServer(Link(socket.socket(fileno=descriptor)), serve).run(loaded)
    except BrokenPipeError:  # the supervisor is gone
        return 0


@dataclass
class _ForkServer:
    link: Link
    serve: Callable[[Inherited], int]
    sockets: list[socket.socket] = field(default_factory=list)
    pids: set[int] = field(default_factory=set)

    def run(self, loaded: Message) -> int:
        woken, waker = socket.socketpair()
        waker.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        self.link.send({**loaded, "kind": "loaded"})
        while True:
            readable, _, _ = select.select([self.link.fileno(), woken.fileno()], [], [])
            if woken.fileno() in readable:
                woken.recv(4096)
                self._reap()
            if self.link.fileno() in readable:
                received = self.link.receive()
                if received is None:
                    return 0
                messages, sockets = received
                self.sockets += sockets
                for message in messages:
                    self._obey(message)

    def _obey(self, message: Message) -> None:
        if message["kind"] == "close":
            close_sockets(self.sockets)
        elif message["kind"] == "start":
            self._fork(bool(message["first"]))

    def _fork(self, first: bool) -> None:
        sys.stdout.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid:
            self.pids.add(pid)
            self.link.send({"kind": "started", "pid": pid})
            return
        code = CRASHED
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            stop_with_parent(parent)
            code = self.serve(Inherited(self.sockets, first, self.link))
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)  # skips the exit handlers that the parent has registered

    def _reap(self) -> None:
        for pid in list(self.pids):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self.pids.discard(pid)
                self.link.send({"kind": "ended", "pid": pid, "code": os.waitstatus_to_exitcode(status)})
