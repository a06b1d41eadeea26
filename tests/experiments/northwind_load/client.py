"""A small REST client of the service: envelope, log-in, lists by cursor, and retries when the service asks to wait.

It uses the standard library only, and knows only the envelope, authentication and lists of the API. One `Client` acts for one person.
"""

import http.client
import json
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

Record = dict[str, Any]

API = "/api/v1"
TIMEOUT_SECONDS = 60
TRIES = 5
LONGEST_WAIT_SECONDS = 120
BUSY = (429, 503)  # the two statuses that carry Retry-After; such a request has had no effect
LOGIN_REFUSED = 40010


class ServiceError(Exception):
    """The service refused the request or cannot be reached; `code` is the envelope's, or 0 if there was no envelope."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Client:
    """Calls the service at `base`, such as `http://127.0.0.1:8000`, as one person, or as nobody before `login`."""

    def __init__(self, base: str) -> None:
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ServiceError(f"{base!r} is no address such as http://127.0.0.1:8000")
        self.base = base.rstrip("/")
        self.user: Record = {}
        self._connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._netloc, self._prefix = parts.netloc, parts.path.rstrip("/")
        self._token = ""

    def login(self, username: str, password: str) -> None:
        """Log in, and act as this person from now on; `user` is then their `userInfo`. Raises `ServiceError`."""
        try:
            answer = self.call("POST", "/auth/login", {"username": username, "password": password})
        except ServiceError as error:
            if error.code == 0:
                raise
            raise ServiceError(f"{username} cannot log in: {error}", error.code) from None
        self._token, self.user = answer["accessToken"], answer["userInfo"]

    def create(self, path: str, body: Record) -> Any:
        """POST with an Idempotency-Key, so that repeated attempts write only once, and return the new record."""
        return self.call("POST", path, body, {"Idempotency-Key": str(uuid4())})

    def every(self, path: str, **filters: str) -> Iterator[Record]:
        """Yield all records of a list that match the filters, page by page."""
        cursor: str | None = None
        while True:
            query = {"page_size": "200", "with_total": "false", **filters} | ({"cursor": cursor} if cursor else {})
            page = self.call("GET", f"{path}?{urlencode(query)}")
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def call(self, method: str, path: str, body: Record | None = None, headers: dict[str, str] | None = None) -> Any:
        """Send a request below /api/v1, waiting if the service asks for it; return `data`. Raises `ServiceError`."""
        for attempt in range(1, TRIES + 1):
            status, answered, text = self._exchange(method, API + path, body, headers or {})
            if status not in BUSY or attempt == TRIES:
                break
            self._wait(answered.get("Retry-After", ""))
        try:
            envelope = json.loads(text)
            code = envelope["code"]
        except (ValueError, TypeError, KeyError):
            raise ServiceError(f"{method} {path}: answered {status} without an envelope") from None
        if code != 0:
            raise ServiceError(f"{method} {path}: {code} {envelope['msg']}{_faults(envelope['data'])}", code)
        return envelope["data"]

    def _exchange(
        self, method: str, path: str, body: Record | None, headers: dict[str, str]
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        sent = {"Accept": "application/json", "Accept-Language": "en"} | headers
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        if body is not None:
            sent["Content-Type"] = "application/json"
        connection = self._connect(self._netloc, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, self._prefix + path, None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise ServiceError(f"{self.base} is out of reach: {error or type(error).__name__}") from None
        finally:
            connection.close()

    def _wait(self, retry_after: str) -> None:
        seconds = min(int(retry_after) if retry_after.isdecimal() else 1, LONGEST_WAIT_SECONDS)
        print(f"the service asks to wait {seconds} s", file=sys.stderr)
        time.sleep(seconds)


class Passwords:
    """The employees' passwords for one service, generated here and kept in a file that only its owner can read.

    Without the file, a second run could not show what each person sees, except by resetting the passwords.
    """

    def __init__(self, path: Path, base: str) -> None:
        self._path, self._base = path, base
        try:
            self._all: dict[str, dict[str, str]] = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            self._all = {}
        except ValueError:
            raise ServiceError(f"{path} is damaged; delete it and the passwords are reset") from None

    def get(self, username: str) -> str | None:
        """Return the password kept for this person, or None if there is none."""
        return self._all.get(self._base, {}).get(username)

    def keep(self, username: str, password: str) -> None:
        """Write the password to the file at once, so that an interrupted run loses nothing."""
        self._all.setdefault(self._base, {})[username] = password
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch(mode=0o600)
        self._path.write_text(json.dumps(self._all, indent=1) + "\n", "utf-8")


def new_password() -> str:
    """Return a random password with the four kinds of characters that the default policy requires."""
    return secrets.token_urlsafe(18) + "aA1-"


def _faults(data: Any) -> str:
    """Return the invalid fields of a 40001, or the field of a 40900, as the end of a sentence."""
    if not isinstance(data, dict):
        return ""
    faults = [f"{fault['field']}: {fault['message']}" for fault in data.get("errors", [])]
    return f" ({'; '.join(faults or [str(data['field'])])})" if faults or "field" in data else ""
