"""The files of the service's own TLS, and the time limits of its handshakes; `config.tls` reads the files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HANDSHAKE_SECONDS = 10.0  # for the whole handshake of a connection, however slowly its bytes arrive
SHUTDOWN_SECONDS = 2.0  # for the client's part at the end of a connection


class CertificateError(Exception):
    """A certificate cannot be used; the message is a sentence that names the setting and the file."""


@dataclass(frozen=True)
class TlsFiles:
    """The PEM files of a certificate with its chain and of its key, and the minimum version of TLS."""

    certificate: Path
    key: Path
    minimum: str = "1.2"

    def signature(self) -> tuple[tuple[int, ...] | None, ...]:
        """Return a value that changes when a file is rewritten or a link to it points elsewhere."""
        return tuple(_state(path) for path in (self.certificate, self.key))


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev
