"""The fork server of a supervisor, with the plugins that its servers share."""

from __future__ import annotations

import os
from collections.abc import Sequence

from config.embedded.client import start_database
from config.logs import log_at_once
from config.process import fail, stop_with_parent
from config.settings import Settings
from config.supervision.forking import Inherited, fork_servers
from config.supervision.link import Message
from plugins.boot.load import load
from plugins.boot.process import run_loaded
from plugins.boot.registry import RegistryError

STOP_SECONDS = 30.0  # of a stop besides draining: for jobs, the operation log and the embedded database


def run_fork_server(settings: Settings, descriptor: int, backup: Sequence[str]) -> int:
    """Load the plugins, and fork processes that serve them for the supervisor at `descriptor`; return the exit code.

    `backup`: the arguments of Python for a backup.
    """
    stop_with_parent(os.getppid())
    if settings.port == 0:
        return fail(["Several processes take a --port that is not 0."])
    try:
        loaded = load(settings, backup)
    except RegistryError as error:
        return fail(error.problems)
    log_at_once(settings.log_level)

    def serve_one(inherited: Inherited) -> int:
        return run_loaded(loaded, start_database(settings), inherited)

    told: Message = {
        "host": settings.host,
        "port": settings.port,
        "unix_socket": settings.unix_socket,
        "unix_socket_mode": settings.unix_socket_mode,
        "log_level": settings.log_level,
        "stop_seconds": settings.drain_notice_seconds + settings.drain_seconds + STOP_SECONDS,
    }
    return fork_servers(descriptor, told, serve_one)
