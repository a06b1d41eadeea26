"""Metrics of log-ins by their result."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api.errors import LOCKED, RATE_LIMITED
from plugins.api.ports import Metrics
from plugins.auth.errors import ACCOUNT_DISABLED, LOGIN_REFUSED

_RESULTS: Mapping[int, str] = {
    0: "success",
    LOGIN_REFUSED.code: "refused",
    LOCKED.code: "locked",
    ACCOUNT_DISABLED.code: "disabled",
    RATE_LIMITED.code: "limited",  # counted once a minute for each address
}
_OTHER = "other"


class LoginMetrics:
    """Counts the log-ins of this process by their result, and the lockouts that they caused."""

    def __init__(self, metrics: Metrics) -> None:
        results = (*_RESULTS.values(), _OTHER)
        self._logins = metrics.counter("tradewind_logins_total", "Log-ins by their result", "result", results)
        self._lockouts = metrics.counter(
            "tradewind_lockouts_total", "Accounts and names that were locked", values=("",)
        )

    def count(self, event: str, code: int) -> None:
        """Count an event of the log-in log if it is a log-in or a lockout."""
        if event == "login":
            self._logins.add(_RESULTS.get(code, _OTHER))
        elif event == "lockout":
            self._lockouts.add()
