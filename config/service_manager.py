"""Notifications to the service manager that started this process (sd_notify(3)); without one, nothing is sent."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

VARIABLE = "NOTIFY_SOCKET"


def notify(state: str) -> None:
    """Send `READY=1`, `RELOADING=1`, `STOPPING=1` or the like; separate several by line breaks."""
    path = os.environ.get(VARIABLE)
    if not path:
        return
    address = f"\0{path[1:]}" if path.startswith("@") else path
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.sendto(state.encode(), address)
