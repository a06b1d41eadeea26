"""JSON log lines with the request they belong to, written off the event loop, with secrets hidden."""

from __future__ import annotations

import json
import logging
import logging.handlers
import queue
import re
import sys
import time
from collections import deque
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

import orjson

_SECRET_NAME = re.compile(
    r"passw|token|secret|authorization|cookie|credential|private_?key|api_?key|signature", re.IGNORECASE
)
_SECRET_TEXT = re.compile(
    r"(?i)(bearer\s+)[^\s\"',]+|(://[^:/@\s]+:)[^@\s]+(?=@)|(eyJ[\w-]{5,}\.)[\w-]+\.[\w-]+"
    r"|((?:password|secret|token)[\"']?\s*[=:]\s*[\"']?)[^\s\"',&}]+"
)
_GATHER_SECONDS = 0.02
# without one of these, in small letters, `_SECRET_TEXT` finds nothing
_SECRET_SIGNS = ("bearer", "://", "eyj", "password", "secret", "token")
_REQUEST_LINE = {"level": "INFO", "logger": "tradewind.request", "message": "request"}
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

# what belongs to the request that is being served: request_id, user_id, route
request_context: ContextVar[Mapping[str, Any]] = ContextVar("request_context", default={})  # noqa: B039 - never changed


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


def hide_secrets(text: str) -> str:
    """`text` without bearer tokens, JWTs, passwords in addresses, and `password=…`."""
    return _SECRET_TEXT.sub(lambda found: next((part for part in found.groups() if part), "") + "***", text)


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of `record`."""
        if isinstance(record, _Gathered):
            return record.lines()
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


class _Gathered(logging.LogRecord):
    """The lines of answered requests since the last such record.

    One record for many lines, made by hand: `Logger.info` costs as much as the rest of a request, and so does waking
    the writer's thread for each.
    """

    def __init__(self, handler: _Queue) -> None:
        self.levelno = logging.INFO
        self._handler = handler

    def lines(self) -> str:
        """All that is gathered; called by the writer's thread, which lets some more come together first."""
        time.sleep(_GATHER_SECONDS)
        waiting = self._handler.waiting
        self._handler.marked = False
        return "\n".join([waiting.popleft() for _ in range(len(waiting))])


def _request_line(fields: Mapping[str, Any]) -> str:
    """The JSON of the line. Its fields are ours, but for the path, which a client can write a token into.

    Made where the request is served: a writer that made thousands of them would hold the interpreter for long.
    """
    second, millisecond = divmod(time.time_ns() // 1_000_000, 1000)
    line = {"time": f"{_second(second)}.{millisecond:03}Z", **_REQUEST_LINE, **fields}
    line["path"] = _shown(line["path"])
    return _json(line)


@lru_cache(maxsize=2000)
def _shown(path: str) -> str:
    """A path as lines show it."""
    lowered = path.lower()
    return hide_secrets(path) if any(sign in lowered for sign in _SECRET_SIGNS) else path


@lru_cache(maxsize=2)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def log_request(fields: Mapping[str, Any]) -> None:
    """Write the line of an answered request, where lines of level INFO are written."""
    root = logging.getLogger()
    if root.level <= logging.INFO:
        for handler in root.handlers:
            if isinstance(handler, _Queue):
                handler.gather(_request_line(fields))


class _Queue(logging.handlers.QueueHandler):
    def __init__(self, lines: queue.SimpleQueue[logging.LogRecord]) -> None:
        super().__init__(lines)
        self.waiting: deque[str] = deque()
        self.marked = False

    def gather(self, line: str) -> None:
        """Keep a request's line for the writer, who is told once for all that come together."""
        self.waiting.append(line)
        if not self.marked:
            self.marked = True
            self.enqueue(_Gathered(self))

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        # same process, so nothing needs pickling; the formatter runs in the writer's thread
        return record


class _Output(logging.StreamHandler[TextIO]):
    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; what was gathered may have been written with the one before."""
        try:
            text = self.format(record)
            if text:
                self.stream.write(text + self.terminator)
                self.flush()
        except Exception:
            self.handleError(record)


def start_logging(level: str) -> logging.handlers.QueueListener:
    """Send every logger's lines to standard output through a thread; `.stop()` writes what is left."""
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
