"""JSON log lines with the context of their request and without secrets, written by a thread.

Request lines take a shorter path than other lines, because `Logger.info` costs as much as the rest of a request:
`log_request` formats the line at once and puts it into the queue.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import queue
import re
import sys
import time
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

import orjson

from config.log_limits import MOST_REFUSED, RepeatedWarnings

_SECRET_NAME = re.compile(
    r"passw|token|secret|authorization|cookie|credential|private_?key|api_?key|signature", re.IGNORECASE
)
_SECRET_TEXT = re.compile(
    r"(?i)(bearer\s+)[^\s\"',]+|(://[^:/@\s]+:)[^@\s]+(?=@)|(eyJ[\w-]{5,}\.)[\w-]+\.[\w-]+|(tw_)[\w-]{43}"
    r"|((?:password|secret|token)[\"']?\s*[=:]\s*[\"']?)[^\s\"',&}]+"
)
# text without any of these, in lower case, cannot match `_SECRET_TEXT`
_SECRET_SIGNS = ("bearer", "://", "eyj", "tw_", "password", "secret", "token")
_REQUEST_LINE = {"level": "INFO", "logger": "tradewind.request", "message": "request"}
_ROOT = logging.getLogger()
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

# the context of the request that is being served: request_id, user_id, route
request_context: ContextVar[Mapping[str, Any]] = ContextVar("request_context", default={})  # noqa: B039 - never changed


def is_secret_name(name: str) -> bool:
    """Return whether a field of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


def hide_secrets(text: str) -> str:
    """Return `text` without bearer tokens, JWTs, passwords in addresses, and `password=…`."""
    return _SECRET_TEXT.sub(lambda found: next((part for part in found.groups() if part), "") + "***", text)


class JsonFormatter(logging.Formatter):
    """Formats each record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of `record`."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC)
            .isoformat(timespec="milliseconds")
            .replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": hide_secrets(record.getMessage()),
        }
        for name, value in vars(record).items():
            if name not in _STANDARD:
                line[name] = "***" if is_secret_name(name) else _without_secrets(value)
        if record.exc_info:
            line["exception"] = hide_secrets(self.formatException(record.exc_info))
        return _json(line)


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return hide_secrets(value)
    if isinstance(value, Mapping):
        return {name: "***" if is_secret_name(str(name)) else _without_secrets(item) for name, item in value.items()}
    return [_without_secrets(item) for item in value] if isinstance(value, list | tuple) else value


def _json(line: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # numbers beyond 64 bits, half surrogate pairs
        return json.dumps(line, default=str)


class _ContextFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        for name, value in request_context.get().items():
            setattr(record, name, value)
        return True


class _RequestRecord(logging.LogRecord):
    """The record of a request, which has its whole line and nothing else."""

    def __init__(self, line: str) -> None:
        self.levelno = logging.INFO
        self.line = line


def _request_line(fields: Mapping[str, Any]) -> str:
    """Return the line of a request. Of its fields only the path can contain a secret, such as a token from the client."""
    second, millisecond = divmod(time.time_ns() // 1_000_000, 1000)
    line = {"time": f"{_format_second(second)}.{millisecond:03}Z", **_REQUEST_LINE, **fields}
    line["path"] = _safe_path(line["path"])
    return _json(line)


@lru_cache(maxsize=2000)
def _safe_path(path: str) -> str:
    """Return the path without secrets."""
    lowered = path.lower()
    return hide_secrets(path) if any(sign in lowered for sign in _SECRET_SIGNS) else path


@lru_cache(maxsize=2)
def _format_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def log_request(fields: Mapping[str, Any]) -> None:
    """Write the line of a finished request, if lines of level INFO are written.

    Refused requests from clients that are not logged in may come in any number, so they are logged up to a limit and
    only counted beyond it.
    """
    if _ROOT.level <= logging.INFO:
        for handler in _ROOT.handlers:
            known = fields["status"] < 400 or fields.get("user_id")
            if isinstance(handler, _Queue) and (known or handler.admits(fields)):
                handler.enqueue(_RequestRecord(_request_line(fields)))


class _Queue(logging.handlers.QueueHandler):
    def __init__(self, lines: queue.SimpleQueue[logging.LogRecord]) -> None:
        super().__init__(lines)
        self._repeated = RepeatedWarnings()
        self.addFilter(self._repeated)

    def admits(self, refused: Mapping[str, Any]) -> bool:
        """Return whether the line of a refused request is written."""
        return self._repeated.limit.admits((_REQUEST_LINE["logger"], f"request {refused['status']}"), MOST_REFUSED)

    def close(self) -> None:
        """Logging: report the number of omitted lines, and close."""
        self._repeated.limit.sum_up()
        super().close()

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        # nothing needs pickling in the same process; the formatter runs in the writing thread
        return record


class _Output(logging.StreamHandler[TextIO]):
    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return record.line if isinstance(record, _RequestRecord) else super().format(record)


def log_at_once(level: str) -> None:
    """Send the lines of all loggers to standard output without a thread, for a process that forks."""
    output = _Output(sys.stdout)
    output.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [output]
    root.setLevel(level)


def start_logging(level: str) -> logging.handlers.QueueListener:
    """Send the lines of all loggers to standard output through a thread; `.stop()` writes the remaining ones."""
    output = _Output(sys.stdout)
    output.setFormatter(JsonFormatter())
    lines: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    handler = _Queue(lines)
    handler.addFilter(_ContextFilter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for noisy in ("pymongo", "motor", "asyncio", "tornado.general"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLevelName(level)))
    logging.getLogger("tornado.access").setLevel(logging.ERROR)
    listener = logging.handlers.QueueListener(lines, output)
    listener.start()
    return listener
