"""Every setting of a deployment: typed, with one line of help, read from the environment and `.env`.

The table of docs/reference/settings.md is generated from this file (`scripts/check --write`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from ipaddress import ip_network
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from config.listening import UNIX
from config.tls import TlsFiles

EXAMPLE_SECRET = "change-me-to-32-or-more-random-characters"
_LEAST_PAIRS, _LEAST_STEPS = 20, 8  # of neighbouring characters; 32 random hexadecimal digits have about 29 and 20
DESKTOP_ORIGINS = ("tauri://localhost", "http://tauri.localhost")
DEV_ORIGINS = (
    "http://localhost:5173",
    "http://localhost:5666",
    "http://localhost:3000",
    "http://127.0.0.1:5173",
    "http://127.0.0.1:5666",
    "http://127.0.0.1:3000",
)

Names = Annotated[tuple[str, ...], NoDecode]


class EnvironmentSettings(BaseSettings):
    """The base class of the settings of the core and of every plugin; it reads `TRADEWIND_…` variables and `.env`."""

    model_config = SettingsConfigDict(
        env_prefix="TRADEWIND_", env_file=".env", extra="ignore", frozen=True, ignored_types=(cached_property,)
    )

    def variables(self, names: Iterable[str] | None = None) -> dict[str, str]:
        """Return the settings that were set, or those in `names`, as text by the names of their variables.

        Secrets are included.
        """
        prefix = str(self.model_config["env_prefix"])
        chosen = sorted(self.model_fields_set if names is None else names)
        return {f"{prefix}{name}".upper(): _as_text(getattr(self, name)) for name in chosen}


class Settings(EnvironmentSettings):
    """The settings of one process."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 lets the system choose.")
    http: Literal["fast", "tornado"] = Field(
        "fast", description="HTTP implementation: `fast`, on httptools, or `tornado`, Tornado's own."
    )
    unix_socket: str = Field("", description="Path of a Unix socket to listen on as well, without TLS.")
    unix_socket_mode: str = Field(
        "660", pattern="^[0-7]{3}$", description="Permissions of the Unix socket, as of a file."
    )
    tls_certificate: str = Field(
        "",
        description="PEM file with a certificate and its chain; with it, the port serves HTTPS. A change needs no "
        "restart.",
    )
    tls_key: str = Field("", description="PEM file with the key of the certificate, without a password.")
    tls_minimum: Literal["1.2", "1.3"] = Field("1.2", description="Lowest version of TLS that is accepted.")
    tls_look_seconds: float = Field(
        10, gt=0, description="How often to check whether the certificate or its key has changed, in seconds."
    )
    data_dir: Path = Field(Path(".data"), description="Folder for the embedded database and local files.")
    mongodb_uri: SecretStr = Field(
        SecretStr(""), description="Address of the MongoDB to use; empty starts the embedded one."
    )
    mongodb_database: str = Field(
        "tradewind", max_length=38, pattern="^[A-Za-z0-9_-]+$", description="Name of the database."
    )
    mongodb_driver: Literal["direct", "motor", "pymongo"] = Field(
        "direct", description="MongoDB driver: `direct`, `motor` or `pymongo`."
    )
    mongodb_timeout_ms: int = Field(
        5000,
        ge=100,
        description="Time limit of one database operation, and of all operations of a request together while MongoDB "
        "does not reply, in ms.",
    )
    mongodb_dashboards: Literal["primary", "secondaryPreferred", "nearest"] = Field(
        "primary", description="Members of the replica set that compute the figures of dashboards."
    )
    jwt_secret: SecretStr = Field(
        SecretStr(""), description="Key that signs tokens: at least 32 bytes, random. Required outside demo mode."
    )
    jwt_old_secrets: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        (),
        description="Earlier signing keys, comma separated; their tokens are accepted until the keys are removed "
        "from here.",
    )
    backup_key: SecretStr = Field(
        SecretStr(""),
        description="Key that encrypts backups: at least 32 random bytes, or a recipient or identity of age; empty: "
        "backups are not encrypted.",
    )
    backup_hours: float = Field(
        0,
        ge=0,
        le=24 * 366,
        description="Hours between two backups that the service takes by itself; 0: it takes none.",
    )
    backup_folder: str = Field(
        "",
        description="Folder for backups, if possible on another disk than the database; empty: `backups` in the data "
        "folder.",
    )
    backup_keep: int = Field(14, ge=1, description="How many of the backups that the service takes by itself are kept.")
    demo: bool = Field(False, description="Demo mode: demo data, and a random key for tokens if none is set.")
    plugins: Names = Field(
        (),
        description="Plugins to load, comma separated; empty: all built-in ones but optional ones; `+name` adds one to these.",
    )
    cors_origins: Names = Field(
        DEV_ORIGINS,
        description="Origins that browsers may call from, comma separated, in addition to those of the desktop client "
        f"({', '.join(DESKTOP_ORIGINS)}); `-{DESKTOP_ORIGINS[0]}` removes one of them.",
    )
    time_zone: str = Field("Asia/Shanghai", description="Business time zone: it decides on which day a time falls.")
    response_checks: Literal["auto", "all", "some"] = Field(
        "auto",
        description="Which responses are checked against the shape that their route declares. With `all`, a wrong "
        "one becomes 50000; with `some`, a sample is checked and faults are logged; `auto` is `all` in demo mode, "
        "else `some`.",
    )
    rate_limits: Literal["on", "off"] = Field("on", description="`off` is only for benchmarks and tests.")
    requests_per_minute: int = Field(
        600, ge=1, description="Requests that one user may send per minute, in each process."
    )
    trusted_proxies: Names = Field(
        (),
        description="Addresses or networks of the proxies that are trusted to name the client, comma separated; "
        "`unix` is the Unix socket.",
    )
    forwarding_field: Literal["X-Forwarded-For", "Forwarded"] = Field(
        "X-Forwarded-For",
        description="Header in which trusted proxies name the client; `Forwarded` is that of RFC 7239. The other "
        "header is ignored, because clients can send it.",
    )
    metrics_clients: Names = Field(
        ("127.0.0.1", "::1"),
        description="Addresses or networks that may read /metrics and /api/health/processes, comma separated; "
        "`unix` is the Unix socket.",
    )
    traces: bool = Field(
        False,
        description="Send traces with OpenTelemetry (`pip install tradewind[otel]`). Its own variables say where "
        "to, and how many: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Lowest level that is logged.")
    max_body_bytes: int = Field(1 << 20, ge=1024, description="Largest JSON body, in bytes.")
    max_header_bytes: int = Field(16 << 10, ge=1024, description="Largest header block, in bytes.")
    max_receiving_bytes: int = Field(
        64 << 20, ge=1 << 20, description="Most bytes of requests still arriving that a process holds; beyond, 50300."
    )
    max_receiving_bytes_per_address: int = Field(
        16 << 20, ge=1 << 20, description="The same for one address (an IPv6 /64); beyond, 42900."
    )
    max_json_depth: int = Field(32, ge=4, le=200, description="Deepest nesting of a JSON body.")
    max_json_values: int = Field(20_000, ge=1000, description="Most values and names in a JSON body, approximately.")
    max_public_body_bytes: int = Field(
        64 << 10, ge=1024, description="Largest JSON body of requests without a log-in, in bytes."
    )
    request_seconds: float = Field(30, gt=0, description="Time limit of one request, in seconds.")
    import_bytes: int = Field(100 << 20, ge=1024, le=1 << 30, description="Largest file of an import, in bytes.")
    import_waits_rows: int = Field(
        200,
        ge=0,
        description="Imports of up to this many rows finish before the response; larger ones run in the background.",
    )
    import_resume_seconds: float = Field(
        30, gt=0, description="How often to look for imports that another instance left unfinished, in seconds."
    )
    confined_processes: int = Field(
        2,
        ge=1,
        le=64,
        description="Most worker processes at once for each kind of costly work (articles, tables, images).",
    )
    confined_megabytes: int = Field(
        512, ge=64, description="Most memory of a worker process, in MB; a table or article that needs more is refused."
    )
    idle_seconds: float = Field(75, gt=0, description="How long an idle connection is kept, in seconds.")
    drain_notice_seconds: float = Field(
        2, ge=0, description="How long a stopping process still serves while it sends clients elsewhere, in seconds."
    )
    drain_seconds: float = Field(
        20, ge=0, description="How long a stopping process waits for open requests, in seconds."
    )
    operation_log_queue: int = Field(10_000, ge=1, description="Operation-log entries that may wait to be written.")
    operation_log_days: int = Field(180, ge=1, description="How long operation-log entries are kept, in days.")

    @field_validator("plugins", "cors_origins", "trusted_proxies", "metrics_clients", "jwt_old_secrets", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """The origins that browsers may call from: those of the desktop client and of `cors_origins`."""
        away = {origin.removeprefix("-") for origin in self.cors_origins if origin.startswith("-")}
        named = dict.fromkeys((*DESKTOP_ORIGINS, *self.cors_origins))
        return tuple(origin for origin in named if origin not in away and not origin.startswith("-"))

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError(f"{value} is no time zone of the IANA database") from error
        return value

    @field_validator("trusted_proxies", "metrics_clients")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for address in value:
            if address != UNIX:
                ip_network(address, strict=False)
        return value

    @model_validator(mode="after")
    def _whole_edge(self) -> Settings:
        if bool(self.tls_certificate) != bool(self.tls_key):
            missing = "TRADEWIND_TLS_KEY" if self.tls_certificate else "TRADEWIND_TLS_CERTIFICATE"
            raise ValueError(f"{missing} is missing: a certificate and its key are set together")
        return self

    @model_validator(mode="after")
    def _strong_secret(self) -> Settings:
        secret = self.jwt_secret.get_secret_value()
        if secret or not self.demo:
            weakness = secret_weakness(secret)
            if weakness:
                raise ValueError(f"TRADEWIND_JWT_SECRET {weakness}; make one with `openssl rand -base64 48`")
        backup_key = self.backup_key.get_secret_value()
        if backup_key and (weakness := secret_weakness(backup_key)):
            raise ValueError(f"TRADEWIND_BACKUP_KEY {weakness}; make one with `openssl rand -base64 48`")
        # tokens signed with an earlier key are still accepted
        for weakness in filter(None, (secret_weakness(old.get_secret_value()) for old in self.jwt_old_secrets)):
            raise ValueError(f"TRADEWIND_JWT_OLD_SECRETS holds a key that {weakness}; drop it")
        return self

    @cached_property
    def checks_every_response(self) -> bool:
        """Whether a response that differs from the shape of its route is an error."""
        return self.demo if self.response_checks == "auto" else self.response_checks == "all"

    @cached_property
    def tls_files(self) -> TlsFiles | None:
        """The certificate of the service's own TLS; None if it serves plain HTTP."""
        if not self.tls_certificate:
            return None
        return TlsFiles(Path(self.tls_certificate), Path(self.tls_key), self.tls_minimum)

    @cached_property
    def zone(self) -> ZoneInfo:
        """The business time zone."""
        return ZoneInfo(self.time_zone)


def _as_text(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return ",".join(map(_as_text, value)) if isinstance(value, tuple) else str(value)


def problems_of(error: ValidationError) -> list[str]:
    """Return a sentence for each setting that is refused, with the name of its variable."""
    return [f"{_variable(fault['loc'])}{fault['msg'].removeprefix('Value error, ')}" for fault in error.errors()]


def _variable(location: Sequence[object]) -> str:
    return f"TRADEWIND_{'_'.join(map(str, location)).upper()}: " if location else ""


def secret_weakness(secret: str) -> str | None:
    """Return why a signing key is too weak, such as "is not set"; None if it is strong enough."""
    if not secret:
        return "is not set"
    if len(secret.encode()) < 32:
        return "is shorter than 32 bytes"
    if is_placeholder(secret):
        return "is the documented example"
    if len(set(secret)) < 8:
        return "has fewer than eight different characters"
    pairs = set(pairwise(secret))
    if len(pairs) < _LEAST_PAIRS or len({ord(after) - ord(before) for before, after in pairs}) < _LEAST_STEPS:
        return "repeats itself or counts up"
    return None


def is_placeholder(secret: str) -> bool:
    """Return whether a secret was copied from the examples of the documentation, where a real one is to be put."""
    return secret == EXAMPLE_SECRET or "openssl rand" in secret or "…" in secret
