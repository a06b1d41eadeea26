"""Settings: where they come from, what they default to, what they refuse."""

import re
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from config.settings import EXAMPLE_SECRET, Settings, is_placeholder, secret_weakness

ROOT = Path(__file__).resolve().parents[3]
TEXTS = {".md", ".yml", ".yaml", ".env", ".example", ".service"}
GOOD = "Zq8-one-signing-secret-of-these-tests-only"
Given = Callable[..., Settings]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Given:
    """Settings from these variables and no others, with a sound signing key."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"TRADEWIND_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)

    def read(**variables: str) -> Settings:
        for name, value in {"JWT_SECRET": GOOD, **variables}.items():
            monkeypatch.setenv(f"TRADEWIND_{name}", value)
        return Settings()

    return read


DEFAULTS: dict[str, Any] = {
    "host": "127.0.0.1",
    "port": 8000,
    "data_dir": Path(".data"),
    "mongodb_database": "tradewind",
    "demo": False,
    "plugins": (),
    "time_zone": "Asia/Shanghai",
    "rate_limits": "on",
    "requests_per_minute": 600,
    "log_level": "INFO",
    "max_body_bytes": 1_048_576,
    "max_header_bytes": 16_384,
    "max_json_depth": 32,
    "request_seconds": 30,
    "idle_seconds": 75,
    "metrics_clients": ("127.0.0.1", "::1"),
}


def test_the_defaults_are_those_of_the_contract(given: Given) -> None:
    settings = given()
    assert {name: getattr(settings, name) for name in DEFAULTS} == DEFAULTS


def test_no_database_address_means_the_embedded_one(given: Given) -> None:
    assert given().mongodb_uri.get_secret_value() == ""


def test_the_environment_wins_over_the_file(given: Given, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TRADEWIND_PORT=1111\nTRADEWIND_HOST=0.0.0.0\n")
    settings = given(PORT="2222")
    assert (settings.port, settings.host) == (2222, "0.0.0.0")


def test_names_come_with_commas(given: Given) -> None:
    both = ("auth", "rbac")
    lists = {"": (), "auth": ("auth",), "auth,rbac": both, " auth , rbac ,": both, ",,": ()}
    assert {text: given(PLUGINS=text).plugins for text in lists} == lists


def test_old_keys_come_with_commas(given: Given) -> None:
    old = given(JWT_OLD_SECRETS=f"{GOOD}-1, {GOOD}-2").jwt_old_secrets
    assert [key.get_secret_value() for key in old] == [f"{GOOD}-1", f"{GOOD}-2"]


def test_demo_is_on_or_off(given: Given) -> None:
    spelled = {"true": True, "1": True, "false": False, "0": False}
    assert {text: given(DEMO=text).demo for text in spelled} == spelled


WEAK = {
    "": "is not set",
    "short": "is shorter than 32 bytes",
    "a" * 40: "has fewer than eight different characters",
    "abcdefg" * 10: "has fewer than eight different characters",
    EXAMPLE_SECRET: "is the documented example",
    "the output of openssl rand -base64 48": "is the documented example",
    **dict.fromkeys(
        (
            "abcdefgh" * 4,
            "0123456789abcdef" * 2,
            "密钥" * 6 + "abcdef",
            "0123456789abcdefghijklmnopqrstuv",
            "x7Kq2mZp" * 5,
        ),
        "repeats itself or counts up",
    ),
}


def test_a_weak_signing_key_has_its_weakness() -> None:
    assert {secret: secret_weakness(secret) for secret in WEAK} == WEAK


@pytest.mark.parametrize(
    "made", [lambda: GOOD, lambda: token_hex(16), lambda: token_hex(500), lambda: token_urlsafe(24)]
)
def test_a_sound_signing_key_has_no_weakness(made: Callable[[], str]) -> None:
    assert [secret_weakness(made()) for _ in range(1000)] == [None] * 1000


def test_no_secret_that_an_example_of_ours_shows_is_taken() -> None:
    written = "\n".join(
        path.read_text() for path in (*ROOT.glob("*.y*ml"), *ROOT.glob("docs/**/*.*")) if path.suffix in TEXTS
    )
    shown = re.findall(
        r"TRADEWIND_(?:JWT_SECRET|JWT_OLD_SECRETS|BACKUP_KEY|ADMIN_PASSWORD)=[\"']?([^\n\"'|#]*)", written
    )
    assert len(shown) > 10
    assert [
        secret for secret in shown if secret.strip() and not (is_placeholder(secret) or secret_weakness(secret))
    ] == []


def test_a_weak_signing_key_is_refused(given: Given) -> None:
    for secret in WEAK:
        with pytest.raises(ValidationError, match="TRADEWIND_JWT_SECRET"):
            given(JWT_SECRET=secret)


def test_demo_mode_needs_no_signing_key(given: Given) -> None:
    assert given(JWT_SECRET="", DEMO="true").jwt_secret.get_secret_value() == ""


def test_demo_mode_refuses_a_weak_signing_key_all_the_same(given: Given) -> None:
    with pytest.raises(ValidationError, match="TRADEWIND_JWT_SECRET"):
        given(JWT_SECRET="short", DEMO="true")


REFUSED = [
    ("PORT", "-1"),
    ("PORT", "65536"),
    ("PORT", "http"),
    ("MONGODB_DRIVER", "odbc"),
    ("MONGODB_TIMEOUT_MS", "0"),
    ("LOG_LEVEL", "info!"),
    ("TIME_ZONE", "Mars/Olympus"),
    ("TIME_ZONE", ""),
    ("TIME_ZONE", "/etc/passwd"),
    ("TIME_ZONE", ".."),
    ("RATE_LIMITS", "maybe"),
    ("MONGODB_DATABASE", ""),
    ("MONGODB_DATABASE", "a/b"),
    ("MONGODB_DATABASE", "a b"),
    ("MONGODB_DATABASE", "x" * 39),
    ("DEMO", "perhaps"),
    ("TRUSTED_PROXIES", "proxy.example"),
    ("METRICS_CLIENTS", "10.0.0.0/33"),
    ("MAX_JSON_DEPTH", "0"),
    ("REQUEST_SECONDS", "0"),
]


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_value_that_cannot_be_is_refused_by_its_name(given: Given, name: str, value: str) -> None:
    with pytest.raises(ValidationError) as error:
        given(**{name: value})
    assert [fault["loc"] for fault in error.value.errors()] == [(name.lower(),)]


def test_the_business_time_zone_is_that_of_the_setting(given: Given) -> None:
    assert given(TIME_ZONE="Europe/Berlin").zone == ZoneInfo("Europe/Berlin")


def test_networks_may_be_listed_besides_addresses(given: Given) -> None:
    assert given(TRUSTED_PROXIES="10.0.0.0/8,::1,192.0.2.1").trusted_proxies == ("10.0.0.0/8", "::1", "192.0.2.1")


def test_secrets_do_not_show_when_settings_are_printed(given: Given) -> None:
    settings = given(MONGODB_URI="mongodb://someone:hunter2@127.0.0.1/", JWT_OLD_SECRETS=f"{GOOD}-old")
    for shown in (repr(settings), str(settings), settings.model_dump_json()):
        assert "hunter2" not in shown
        assert GOOD not in shown


def test_settings_do_not_change(given: Given) -> None:
    with pytest.raises(ValidationError):
        given().port = 1
