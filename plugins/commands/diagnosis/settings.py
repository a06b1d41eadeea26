"""Settings that are dangerous on a service that others can reach."""

from __future__ import annotations

import ipaddress
import re
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from config.listening import UNIX
from config.settings import DESKTOP_ORIGINS, DEV_ORIGINS, EnvironmentSettings, Settings
from config.tls import Certificate, CertificateError, check_certificate
from plugins.auth.settings import WECOM_NEEDS, AuthSettings
from plugins.commands.diagnosis.findings import Finding, Level
from plugins.rbac.passwords import RbacSettings

LEAST_BCRYPT_COST = 10
LEAST_DAYS = 14  # as in the alert TradewindCertificateEnds
_CHECK = "setting"
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\s*]+")  # RFC 6454 section 6.2
_OVER_HTTP: tuple[tuple[str, Level, str], ...] = (
    ("wecom_api_base", "error", "the secret of the WeCom application"),
    ("wecom_login_base", "warning", "the page that people scan"),
    ("wecom_redirect_uri", "warning", "the code that logs people in"),
)


def check_settings(
    settings: Settings, of_plugins: Mapping[type[EnvironmentSettings], EnvironmentSettings]
) -> Iterator[Finding]:
    """Yield a finding for each setting that is missing, wrong or dangerous."""
    yield from _exposure(settings)
    yield from _addresses(settings)
    yield from _database(settings)
    yield from _certificate(settings)
    rbac: Any = of_plugins.get(RbacSettings)
    if rbac is not None and rbac.bcrypt_cost < LEAST_BCRYPT_COST:
        yield _finding("warning", "bcrypt_cost", f"{rbac.bcrypt_cost} is quickly guessed; 12 is the default")
    if rbac is not None and rbac.admin_password.get_secret_value():
        yield _finding("note", "admin_password", "only the first start needs it; take it out of the environment")
    auth: Any = of_plugins.get(AuthSettings)
    if auth is not None:
        yield from _wecom(auth)


def _exposure(settings: Settings) -> Iterator[Finding]:
    if settings.demo and not _is_loopback(settings.host):
        yield _finding("error", "demo", f"demo accounts can be reached from outside on {settings.host}")
    if settings.rate_limits == "off":
        yield _finding("warning", "rate_limits", "passwords can be guessed as fast as the machine allows")
    yield from _origins(settings)


def _origins(settings: Settings) -> Iterator[Finding]:
    allowed = settings.allowed_origins
    for origin in settings.cors_origins:
        if not _ORIGIN.fullmatch(origin.removeprefix("-")):
            advice = "name the front ends' own, such as https://office.example, without a slash at the end"
            yield _finding("warning", "cors_origins", f"`{origin}` is no origin: {advice}")
        elif origin.startswith("-") and origin[1:] not in (*DESKTOP_ORIGINS, *settings.cors_origins):
            yield _finding("warning", "cors_origins", f"`{origin}` takes away what nothing allows")
    for origin in DESKTOP_ORIGINS:
        if origin not in allowed:
            yield _finding("note", "cors_origins", f"{origin} is missing: the desktop client cannot call from there")
    if not settings.demo and any(origin in DEV_ORIGINS for origin in allowed):
        yield _finding("note", "cors_origins", "the dev servers on localhost are still allowed")


def _addresses(settings: Settings) -> Iterator[Finding]:
    for name, danger in (
        ("trusted_proxies", "anybody can claim any address: log-in limits and logs are worthless"),
        ("metrics_clients", "/metrics is open to everybody"),
    ):
        for address in getattr(settings, name):
            if address == UNIX:
                continue
            try:
                everybody = ipaddress.ip_network(address, strict=False).prefixlen == 0
            except ValueError:
                yield _finding("error", name, f"`{address}` is no address or network")
                continue
            if everybody:
                yield _finding("error" if name == "trusted_proxies" else "warning", name, danger)


def _wecom(auth: AuthSettings) -> Iterator[Finding]:
    missing = auth.wecom_missing
    if 0 < len(missing) < len(WECOM_NEEDS):
        for name in missing:
            yield _finding("warning", name, "WeCom log-in is off without it")
    for name, level, danger in _OVER_HTTP:
        address = urlsplit(getattr(auth, name))
        if address.scheme == "http" and not _is_loopback(address.hostname or ""):
            yield _finding(level, name, f"{danger} travels unencrypted: use https")
    if auth.wecom_first_scan == "create" and not auth.wecom_default_role:
        yield _finding("warning", "wecom_default_role", "users that a first scan creates hold no role: name one")


def _database(settings: Settings) -> Iterator[Finding]:
    uri = settings.mongodb_uri.get_secret_value()
    if not uri and not settings.demo:
        yield _finding("warning", "mongodb_uri", "the embedded MongoDB is for development and small installations")
    if uri:
        place = urlsplit(uri)
        known = place.username is not None or "MONGODB-X509" in place.query
        if not known and not _is_loopback(place.hostname or ""):
            yield _finding("warning", "mongodb_uri", "no user name: the database answers whoever reaches it")


def _certificate(settings: Settings) -> Iterator[Finding]:
    if settings.tls_files is None:
        return
    try:
        check_certificate(settings.tls_files)
        ends = Certificate(settings.tls_files).ends
    except CertificateError as error:
        setting, _, advice = str(error).partition(": ")
        yield Finding("error", _CHECK, setting, advice)
        return
    days = (ends - datetime.now(UTC)).days
    if days < LEAST_DAYS:
        yield _finding("warning", "tls_certificate", f"it ends in {days} days: write a new one over it")
    if settings.tls_files.key.stat().st_mode & stat.S_IROTH:
        yield _finding("error", "tls_key", "every user of this machine may read the key: mode 600 or 640")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _finding(level: Level, name: str, advice: str) -> Finding:
    return Finding(level, _CHECK, f"TRADEWIND_{name.upper()}", advice)
