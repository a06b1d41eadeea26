"""The first command on a connection of the wire protocol, which identifies the client, and the primary in its reply."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from config.database.commands import APP_NAME
from config.version import VERSION

# https://github.com/mongodb/specifications/blob/master/source/mongodb-handshake/handshake.md
HELLO: Mapping[str, Any] = {
    "hello": 1,
    "client": {
        "application": {"name": APP_NAME},
        "driver": {"name": "tradewind", "version": VERSION},
        "os": {"type": platform.system()},
    },
    "$db": "admin",
}


def primary_of(hello: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the host and port of the primary that the reply names; None if it names none."""
    primary = hello.get("primary")
    host, _, port = primary.rpartition(":") if isinstance(primary, str) else ("", "", "")
    sound = host and port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535
    return (host.strip("[]"), int(port)) if sound else None
