"""Certificates for tests: an authority, and what it signs, good and bad."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Files:
    """The PEM files of a certificate and its key."""

    certificate: Path
    key: Path

    @property
    def settings(self) -> dict[str, str]:
        """Those of a service that uses them."""
        return {"tls_certificate": str(self.certificate), "tls_key": str(self.key)}


class Authority:
    """Signs certificates for `localhost` and 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("Authority of these tests")
        now = datetime.now(UTC)
        made = self._builder(self._name, self._key, now - DAY, now + 30 * DAY)
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        made = made.add_extension(usage, critical=True)
        self.certificate = folder / "authority.pem"
        self.certificate.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def issue(
        self,
        name: str = "server",
        begins: timedelta = -DAY,
        ends: timedelta = 10 * DAY,
        password: bytes | None = None,
        subject: x509.Name | None = None,
    ) -> Files:
        """Write `name.pem` and `name.key`; the times are from now on."""
        key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
        made = self._builder(subject or _name("localhost"), key, now + begins, now + ends)
        names = [x509.DNSName("localhost"), *map(x509.IPAddress, map(ipaddress.ip_address, ("127.0.0.1", "::1")))]
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
        files = Files(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        files.certificate.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM))
        hidden = NoEncryption() if password is None else BestAvailableEncryption(password)
        files.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden))
        return files

    @property
    def client_context(self) -> ssl.SSLContext:
        """The TLS of a client that trusts this authority alone."""
        return ssl.create_default_context(cafile=self.certificate)

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, begins: datetime, ends: datetime
    ) -> x509.CertificateBuilder:
        return x509.CertificateBuilder(
            issuer_name=self._name,
            subject_name=subject,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=begins,
            not_valid_after=ends,
        )


def serial_of(files: Files) -> int:
    """The serial number of a certificate."""
    return x509.load_pem_x509_certificate(files.certificate.read_bytes()).serial_number


def end_of(files: Files) -> float:
    """When a certificate ends, in seconds since 1970."""
    return x509.load_pem_x509_certificate(files.certificate.read_bytes()).not_valid_after_utc.timestamp()


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
