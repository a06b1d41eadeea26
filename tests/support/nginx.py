"""A real nginx with the configuration of docs/operations, on ports of this machine."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.replica_sets import ROOT, wait_until

CONFIGURATION = ROOT / "docs" / "operations" / "nginx" / "tradewind.conf"
_AROUND = """\
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
worker_processes 1;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{site}
}}
"""


@dataclass(frozen=True)
class Certificate:
    """The files of a certificate and of its key."""

    certificate: Path
    key: Path


def is_installed() -> bool:
    """Return whether nginx is installed on this machine."""
    return shutil.which("nginx") is not None


def adapted(
    text: str, servers: Sequence[int | Path], port: int, redirecting: int, certificate: Certificate | None
) -> str:
    """Return the documented configuration for the servers at these ports or Unix sockets.

    Without a certificate it serves plain HTTP.
    """
    places = (f"unix:{each}" if isinstance(each, Path) else f"127.0.0.1:{each}" for each in servers)
    secured = "ssl http2" if certificate else ""
    text = _replaced(text, "    server 127.0.0.1:8000;\n", "".join(f"    server {each};\n" for each in places))
    text = _replaced(text, "    listen 80;\n    listen [::]:80;\n", f"    listen 127.0.0.1:{redirecting};\n")
    text = _replaced(
        text,
        "    listen 443 ssl http2;\n    listen [::]:443 ssl http2;\n",
        f"    listen 127.0.0.1:{port} {secured};\n",
    )
    if certificate is None:
        return "".join(line for line in text.splitlines(keepends=True) if not line.strip().startswith("ssl_"))
    text = _replaced(text, "/etc/nginx/tls/tradewind.crt", str(certificate.certificate))
    return _replaced(text, "/etc/nginx/tls/tradewind.key", str(certificate.key))


def _replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise ValueError(f"{CONFIGURATION} has {text.count(old)} times {old!r}")
    return text.replace(old, new)


class Nginx:
    """An nginx in `folder` that listens on `port` and forwards to the servers at these ports or Unix sockets."""

    def __init__(
        self,
        folder: Path,
        servers: Sequence[int | Path],
        port: int,
        redirecting: int,
        certificate: Certificate | None = None,
    ) -> None:
        self.port = port
        self.log = folder / "error.log"
        self._configuration = folder / "nginx.conf"
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True)
        site = adapted(CONFIGURATION.read_text(), servers, port, redirecting, certificate)
        self._configuration.write_text(_AROUND.format(folder=folder, site=site))
        self._command = ["nginx", "-e", str(self.log), "-p", str(folder), "-c", str(self._configuration)]

    def check(self) -> str:
        """Return the complaints of `nginx -t` about the configuration, or an empty string if it is valid."""
        done = subprocess.run([*self._command, "-t", "-q"], capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    def start(self) -> None:
        """Start nginx, and wait until it listens."""
        self.log.with_name("nginx.pid").touch()
        self._process = subprocess.Popen(self._command)
        # `nginx -t` leaves an empty pid file
        wait_until(lambda: self.log.with_name("nginx.pid").stat().st_size > 0, 10, every=0.02)

    def stop(self) -> None:
        """Stop nginx."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
