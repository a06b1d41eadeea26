"""What `doctor` says of the certificate of the service's own TLS."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from config.settings import Settings
from plugins.commands.diagnosis.settings import check_settings
from plugins.testing import SECRET
from tests.support.certificates import DAY, Authority


def found(folder: Path, mode: int = 0o600, ends: timedelta = 20 * DAY) -> dict[str, tuple[str, str]]:
    """The findings about a certificate."""
    files = Authority(folder).issue(begins=-20 * DAY, ends=ends)
    files.key.chmod(mode)
    settings = Settings(jwt_secret=SECRET, mongodb_uri="mongodb://127.0.0.1/", _env_file=None, **files.settings)
    findings = check_settings(settings, {})
    return {one.subject: (one.level, one.advice) for one in findings if "_TLS_" in one.subject}


def test_a_good_one_is_no_finding(tmp_path: Path) -> None:
    assert found(tmp_path) == {}


@pytest.mark.parametrize(
    ("given", "subject", "level", "advice"),
    [
        ({"ends": -DAY}, "TRADEWIND_TLS_CERTIFICATE", "error", "ended on"),
        ({"ends": 5 * DAY}, "TRADEWIND_TLS_CERTIFICATE", "warning", "ends in 4 days"),
        ({"mode": 0o644}, "TRADEWIND_TLS_KEY", "error", "every user of this machine may read the key"),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path, given: dict[str, timedelta], subject: str, level: str, advice: str
) -> None:
    findings = found(tmp_path, **given)
    assert list(findings) == [subject]
    assert findings[subject][0] == level
    assert advice in findings[subject][1]
