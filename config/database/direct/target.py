"""The database addresses that the wire protocol of this package supports, and their TLS, as the libraries read them."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

from pymongo.uri_parser import parse_uri

from config.database.direct.handshake import MECHANISM
from config.database.direct.wire import X509, Target

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


_SUPPORTED_OPTIONS = frozenset(
    {
        "authsource",
        "directconnection",
        "replicaset",
        "appname",
        "retrywrites",
        "retryreads",
        "w",
        "journal",
        "readconcernlevel",
        "maxpoolsize",
        "connecttimeoutms",
        "serverselectiontimeoutms",
        "authmechanism",
        *TLS_OPTIONS,
    }
)


def target_of(uri: str, database: str) -> Target | None:
    """Return the target of the wire protocol for this address; None for an address that it does not support.

    The host names of `mongodb+srv` are looked up here. Raises `OSError` for TLS files that cannot be used.
    """
    parsed = parse_uri(uri)
    if any(port is None for _, port in parsed["nodelist"]):
        return None
    options = {name.lower(): value for name, value in parsed["options"].items()}
    mechanism = options.get("authmechanism", MECHANISM)
    if not _SUPPORTED_OPTIONS.issuperset(options) or mechanism not in (MECHANISM, X509):
        return None
    tls = tls_context(options)
    if mechanism == X509 and tls is None:
        return None
    return Target(
        hosts=tuple(parsed["nodelist"]),
        database=database,
        user=parsed["username"] or "",
        password=parsed["password"] or "",
        source=options.get("authsource") or parsed["database"] or "admin",
        direct=bool(options.get("directconnection")),
        mechanism=mechanism,
        tls=tls,
    )
