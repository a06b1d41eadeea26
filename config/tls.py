"""The service's own TLS: the files and time limits, and the certificate, which is reloaded when its files change."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

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


# only forward secrecy and authenticated encryption, as in Mozilla's "intermediate"; TLS 1.3 ciphers are always on
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
_MINIMUM = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


class Certificate:
    """The certificate that new connections get through `context`. Raises `CertificateError` if the files are unusable.

    An expired certificate is accepted here, so that a restarted process continues with the certificate that the other
    processes use. `renew` and `check_certificate` refuse it.
    """

    def __init__(self, files: TlsFiles) -> None:
        self._files = files
        self._signature = files.signature()
        self._current, self.ends = _read(files)
        self.refused = ""  # why the newest files are not used; empty if they are
        self.context = self._current
        # a context whose chain is replaced may hold a chain without its key for a moment, so a new one is made instead
        self.context.sni_callback = self._choose

    def _choose(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        """OpenSSL: a client has sent its hello, with or without a server name."""
        if context is not self._current:
            connection.context = self._current

    def renew(self, unchanged: bool = False) -> bool:
        """Reload the files if they have changed, or always if `unchanged`; return whether they were loaded. Blocks.

        Raises `CertificateError` if they cannot be used; the current certificate then stays in use.
        """
        signature = self._files.signature()
        if signature == self._signature and not unchanged:
            return False
        self._signature = signature
        try:
            context, ends = _read(self._files, refuse_ended=True)
        except CertificateError as error:
            self.refused = str(error)
            raise
        self._current, self.ends, self.refused = context, ends, ""
        return True


def check_certificate(files: TlsFiles) -> None:
    """Raise `CertificateError` unless the service can start with these files now."""
    _read(files, refuse_ended=True)


def check_dates(setting: str, path: Path) -> None:
    """Raise `CertificateError` unless the certificate in `path`, which `setting` names, is valid now."""
    try:
        (certificate, *_) = x509.load_pem_x509_certificates(_content(setting, path))
    except ValueError as error:
        raise CertificateError(f"{setting}: {path} holds no certificate in PEM form.") from error
    _check_dates(certificate, f"{setting}: the certificate in {path}")


def _read(files: TlsFiles, refuse_ended: bool = False) -> tuple[ssl.SSLContext, datetime]:
    """Return a context with the certificate, and the time at which the certificate expires."""
    setting, path = "TRADEWIND_TLS_CERTIFICATE", files.certificate
    pem, key = _content(setting, path), _content("TRADEWIND_TLS_KEY", files.key)
    try:
        certificate = x509.load_pem_x509_certificates(pem)[0]
    except (ValueError, IndexError) as error:
        raise CertificateError(f"{setting}: {path} holds no certificate in PEM form.") from error
    if refuse_ended:
        _check_dates(certificate, f"{setting}: the certificate in {path}")
    _check_key(certificate, key, files)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _MINIMUM[files.minimum]
    context.set_ciphers(_CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    context.options |= ssl.OP_NO_RENEGOTIATION
    try:
        context.load_cert_chain(path, files.key, password=lambda: "")
    except (OSError, ValueError) as error:
        raise CertificateError(f"{setting}: {path} cannot be used: {error}.") from error
    return context, certificate.not_valid_after_utc


def _content(setting: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CertificateError(f"{setting}: {path} cannot be read: {error.strerror}.") from error


def _check_dates(certificate: x509.Certificate, named: str) -> None:
    now, begins, ends = datetime.now(UTC), certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now > ends:
        raise CertificateError(f"{named} ended on {ends:%Y-%m-%d at %H:%M} UTC.")
    if now < begins:
        raise CertificateError(
            f"{named} begins on {begins:%Y-%m-%d at %H:%M} UTC; the clock says {now:%Y-%m-%d %H:%M}."
        )


def _check_key(certificate: x509.Certificate, pem: bytes, files: TlsFiles) -> None:
    named = f"TRADEWIND_TLS_KEY: {files.key}"
    try:
        key = load_pem_private_key(pem, None)
    except TypeError as error:
        raise CertificateError(
            f"{named} is encrypted: store it without a password, readable by the service alone."
        ) from error
    except Exception as error:  # ValueError, and UnsupportedAlgorithm, which is not a ValueError
        raise CertificateError(f"{named} holds no key in PEM form.") from error
    if key.public_key() != certificate.public_key():
        raise CertificateError(f"{named} does not belong to the certificate in {files.certificate}.")
