"""The child processes of a process, and their processor time, from /proc."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def workers(parent: int | str = "self") -> set[int]:
    """The worker processes of a process that have not been reaped yet."""
    return {pid for pid in children(parent) if "handlers.confined.worker" in _command(pid)}


def children(parent: int | str = "self") -> set[int]:
    """The processes that a process has started, whichever of its threads did."""
    found: set[int] = set()
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found |= set(map(int, task.read_text().split()))
    return found


def forked_servers(supervisor: int) -> set[int]:
    """The server processes under a supervisor, whose children are its fork servers."""
    return {pid for fork_server in children(supervisor) for pid in children(fork_server)}


def processor_seconds(pid: int) -> float:
    """What a process has taken of a processor so far, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _command(pid: int) -> str:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""
