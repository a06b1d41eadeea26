"""Reloads the certificate of the service's own TLS when its files change or on request, and adds metrics about it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from config.tls import CertificateError
from handlers.operations.metrics import Metrics

if TYPE_CHECKING:
    from config.tls import Certificate

log = logging.getLogger("tradewind.tls")


def show_certificate(metrics: Metrics, certificate: Certificate | None) -> None:
    """Add metrics of when the certificate ends and whether a newer one was refused, empty without a certificate."""

    def figure(value: float) -> dict[str, float]:
        return {"": value}

    ends = "When the certificate in use ends, in seconds since 1970"
    name = "tradewind_tls_certificate_expiry_timestamp_seconds"
    metrics.figure(name, ends, lambda: figure(certificate.ends.timestamp()) if certificate else {})
    refused = "Whether the newest certificate cannot be used, so that the one before it stays"
    metrics.figure(
        "tradewind_tls_certificate_refused", refused, lambda: figure(bool(certificate.refused)) if certificate else {}
    )


class CertificateWatch:
    """Checks every `seconds` whether the files of a certificate have changed."""

    def __init__(self, certificate: Certificate, seconds: float) -> None:
        self._certificate = certificate
        self._seconds = seconds
        self._looking = asyncio.Lock()

    async def run(self) -> None:
        """Check the files again and again; never ends."""
        while True:
            await asyncio.sleep(self._seconds)
            await self.look()

    async def look(self, unchanged: bool = False) -> None:
        """Load the files if they have changed, or with `unchanged` in any case.

        If they cannot be used, the certificate before stays in use.
        """
        async with self._looking:
            try:
                taken = await asyncio.to_thread(self._certificate.renew, unchanged)
            except CertificateError as error:
                details = {"reason": str(error), "ends": self._certificate.ends.isoformat()}
                log.error("a new certificate is not used, the one before stays", extra=details)
                return
        if taken:
            log.info("a new certificate is used", extra={"ends": self._certificate.ends.isoformat()})
