"""TLS of the wire protocol, by the options of MongoDB's connection strings, as the libraries read them."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

TLS_OPTIONS = frozenset(
    {
        "tls",
        "tlscafile",
        "tlscertificatekeyfile",
        "tlscertificatekeyfilepassword",
        "tlscrlfile",
        "tlsallowinvalidcertificates",
        "tlsallowinvalidhostnames",
        "tlsinsecure",
        "tlsdisableocspendpointcheck",  # no such endpoint is asked here
    }
)


def tls_context(options: Mapping[str, Any]) -> ssl.SSLContext | None:
    """Return the TLS context for these options, whose names are in lower case; None if they do not ask for TLS.

    Raises `OSError` for files that cannot be used.
    """
    if not options.get("tls", bool(TLS_OPTIONS & options.keys())):
        return None
    context = ssl.create_default_context(cafile=options.get("tlscafile"))
    insecure, any_certificate = options.get("tlsinsecure"), options.get("tlsallowinvalidcertificates")
    if insecure or any_certificate or options.get("tlsallowinvalidhostnames"):
        context.check_hostname = False
    if insecure or any_certificate:
        context.verify_mode = ssl.CERT_NONE
    if revoked := options.get("tlscrlfile"):
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
        context.load_verify_locations(revoked)
    if own := options.get("tlscertificatekeyfile"):
        context.load_cert_chain(own, password=options.get("tlscertificatekeyfilepassword") or "")
    return context
