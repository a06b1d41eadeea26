"""Cookies that only pages of the service's own origin send, and only the service can read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from tornado.httputil import parse_cookie

from plugins.api import Request

_LOCAL = re.compile(r"^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$")


def is_same_origin(req: Request) -> bool:
    """Return whether a browser sends the request from a page of the service's own origin, and so with cookies.

    Pages cannot set the header `Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata/), and browsers send it only to
    secure or local addresses.
    """
    return req.headers.get("Sec-Fetch-Site") == "same-origin"


@dataclass(frozen=True)
class OwnCookie:
    """A cookie called `name`: `HttpOnly`, `SameSite=Strict`, and `Secure` but for local addresses."""

    name: str

    def read(self, req: Request) -> str:
        """Return the value that the browser sent, or an empty string."""
        return parse_cookie(req.headers.get("Cookie", "")).get(self._name(req), "")

    def write(self, req: Request, value: str, life: timedelta) -> None:
        """Set the cookie with the response for this time; a time of zero removes it."""
        name, seconds = self._name(req), int(life.total_seconds())
        secure = "; Secure" if name != self.name else ""
        lasting = f"{name}={value}; Max-Age={seconds}; Path=/; HttpOnly; SameSite=Strict{secure}"
        req.response_headers["Set-Cookie"] = lasting

    def _name(self, req: Request) -> str:
        """Return the full name. Its prefix keeps other hosts from writing it (RFC 6265bis section 4.1.3.2).

        On a local address it has no prefix, because not every browser accepts it there.
        """
        return self.name if _LOCAL.match(req.headers.get("Host", "")) else f"__Host-{self.name}"
