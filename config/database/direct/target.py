"""The database addresses that the wire protocol of this package supports."""

from __future__ import annotations

from pymongo.uri_parser import parse_uri

from config.database.direct.scram import MECHANISM
from config.database.direct.tls import TLS_OPTIONS, tls_context
from config.database.direct.wire import X509, Target

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
