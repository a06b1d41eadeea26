"""How a service begins to listen, and how it stops: sockets, TLS, joining and leaving the processes of the port."""

from __future__ import annotations

import socket
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from config.listening import CannotListen, close_sockets, open_sockets, open_unix_socket, port_of
from config.settings import Settings
from config.tls import CertificateError
from handlers.confined.pool import Confined
from handlers.http.app import Front, listen
from handlers.http.draining import drain
from handlers.operations.certificates import CertificateWatch, show_certificate
from handlers.operations.jobs import Jobs
from handlers.operations.metrics import Metrics
from handlers.operations.processes import Processes
from handlers.service import Service, StartError as StartError

if TYPE_CHECKING:
    from config.tls import Certificate


@dataclass(frozen=True)
class Listening:
    """The front that serves, its port, and the certificate of its own TLS, if it has one."""

    front: Front
    port: int
    certificate: CertificateWatch | None


async def start_listening(service: Service, stack: AsyncExitStack, sockets: list[socket.socket]) -> Listening:
    """Serve on `sockets`, or on those of the settings; `stack` drains and stops the server. Raises `StartError`."""
    settings = service.settings
    sockets = sockets or _open_sockets(settings, stack)
    port = port_of(sockets, settings.port)
    front = Front(service)
    certificate = _certificate(settings)
    server = await listen(front, sockets, settings.http, None if certificate is None else certificate.context)

    async def stop() -> None:
        service.draining = True
        refuse = service.part(Confined).stop
        await drain(
            server, front, settings.drain_notice_seconds, settings.drain_seconds, refuse, replaced=service.replaced
        )

    stack.push_async_callback(service.part(Processes).leave)
    await service.part(Processes).join(settings.data_dir, port)
    stack.push_async_callback(stop)
    return Listening(front, port, _watch(service, certificate))


def _open_sockets(settings: Settings, stack: AsyncExitStack) -> list[socket.socket]:
    """Return the sockets that the settings name; `stack` removes the file of a Unix socket. Raises `StartError`."""
    try:
        sockets = open_sockets(settings.host, settings.port, shared=True)
    except OSError as error:
        raise StartError(
            f"Cannot listen on {settings.host} port {settings.port}: {error.strerror}. "
            "Set TRADEWIND_PORT to a free port."
        ) from error
    if settings.unix_socket:
        try:
            local = open_unix_socket(Path(settings.unix_socket), int(settings.unix_socket_mode, 8))
        except CannotListen as error:
            close_sockets(sockets)
            raise StartError(str(error)) from error
        stack.callback(local.remove)
        sockets.append(local.socket)
    return sockets


def _certificate(settings: Settings) -> Certificate | None:
    """Return the certificate of the settings, or None. Raises `StartError`.

    An expired one is refused before a start, but not here, so that a process that is started again can use it.
    """
    if settings.tls_files is None:
        return None
    from config.tls import Certificate  # late, as it imports what reads certificates: most services have none

    try:
        return Certificate(settings.tls_files)
    except CertificateError as error:
        raise StartError(str(error)) from error


def _watch(service: Service, certificate: Certificate | None) -> CertificateWatch | None:
    show_certificate(service.part(Metrics), certificate)
    if certificate is None:
        return None
    watch = CertificateWatch(certificate, service.settings.tls_look_seconds)
    service.part(Jobs).spawn("certificate", watch.run())
    return watch
