"""Log lines: one JSON object each, with the request they belong to and without secrets."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from config.logs import JsonFormatter, hide_secrets, is_secret_name, log_request, request_context, start_logging

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJ1c2VyX2lkIjoxfQ.c2lnbmF0dXJlLXRoYXQtaXMtc2VjcmV0"


def written(message: str, *arguments: object, error: Exception | None = None, **extra: Any) -> dict[str, Any]:
    """The line of a record."""
    record = logging.getLogger("tradewind.test").makeRecord(
        "tradewind.test",
        logging.WARNING,
        "file.py",
        1,
        message,
        arguments,
        (type(error), error, error.__traceback__) if error else None,
        extra=extra,
    )
    line = JsonFormatter().format(record)
    assert "\n" not in line
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_line_has_its_time_level_logger_and_message() -> None:
    line = written("%s of %d", "one", 2)
    assert line.pop("time")[-1] == "Z"
    assert line == {"level": "WARNING", "logger": "tradewind.test", "message": "one of 2"}


def test_what_is_given_besides_the_message_is_in_the_line() -> None:
    line = written("a", route="GET /api", count=3, nested={"list": [1, None]})
    assert (line["route"], line["count"], line["nested"]) == ("GET /api", 3, {"list": [1, None]})


@pytest.mark.parametrize(
    "value", ["a\nb", "a\x00b", "晨光", "\ud800", 2**100, object(), {1: 2}, float("nan"), b"bytes"]
)
def test_no_value_is_too_strange_for_a_line(value: object) -> None:
    assert "strange" in written("a", strange=value)


def test_an_exception_is_in_its_line() -> None:
    try:
        raise ValueError("why")
    except ValueError as error:
        line = written("a", error=error)
    assert "ValueError: why" in line["exception"]


SECRETS = {
    "a bearer token": f"Authorization: Bearer {JWT}",
    "a bearer token in small letters": "bearer hunter2",
    "a token by itself": f"got {JWT}.",
    "a password in an address": "mongodb://someone:hunter2@127.0.0.1:27017/?a=b",
    "a password that is assigned": "password=hunter2 next",
    "a password in JSON": '{"password": "hunter2", "a": 1}',
    "a secret in a query": "/path?client_secret=hunter2&a=1",
    "a token in a query": "/path?access_token=hunter2&a=1",
    "a password with a colon": "Password: hunter2",
}


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_a_secret_in_a_text_is_hidden(text: str) -> None:
    hidden = hide_secrets(text)
    assert "***" in hidden
    assert "hunter2" not in hidden
    assert JWT.rpartition(".")[2] not in hidden


@pytest.mark.parametrize(
    "text", ["晨光科技", "GET /api/v1/auth/password", "a: b", "user@example.com", "http://127.0.0.1:8000/a"]
)
def test_a_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert hide_secrets(text) == text


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "old_password",
        "accessToken",
        "refresh_token",
        "jwt_secret",
        "Authorization",
        "Cookie",
        "api_key",
        "apiKey",
        "privateKey",
        "credentials",
        "X-Signature",
        "passwd",
    ],
)
def test_what_is_named_like_a_secret_is_hidden(name: str) -> None:
    assert is_secret_name(name)
    assert written("a", **{name: "hunter2"})[name] == "***"
    assert written("a", body={"deep": [{name: "hunter2"}]})["body"] == {"deep": [{name: "***"}]}


def test_a_secret_in_a_message_or_an_exception_is_hidden() -> None:
    try:
        raise ValueError("password=hunter2")
    except ValueError as error:
        line = written("token: %s", "hunter2", error=error, other="Bearer hunter2")
    assert "hunter2" not in json.dumps(line)


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    """The root logger, put back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield root
    root.handlers[:] = handlers
    root.setLevel(level)


def test_lines_carry_the_request_that_is_served(
    root_logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    listener = start_logging("INFO")
    token = request_context.set({"request_id": "r-1", "user_id": 7})
    logging.getLogger("tradewind.test").info("served")
    request_context.reset(token)
    logging.getLogger("tradewind.test").info("alone")
    listener.stop()
    served, alone = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (served["request_id"], served["user_id"]) == ("r-1", 7)
    assert "request_id" not in alone


def test_only_the_asked_levels_are_written(root_logger: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    listener = start_logging("WARNING")
    logging.getLogger("tradewind.test").info("quiet")
    log_request({"path": "/api/quiet"})
    logging.getLogger("tradewind.test").warning("loud")
    listener.stop()
    assert [json.loads(line)["message"] for line in capsys.readouterr().out.splitlines()] == ["loud"]


def test_a_stop_writes_what_is_left(root_logger: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    listener = start_logging("INFO")
    for number in range(500):
        logging.getLogger("tradewind.test").info("%d", number)
    listener.stop()
    assert [json.loads(line)["message"] for line in capsys.readouterr().out.splitlines()] == [
        str(n) for n in range(500)
    ]


def test_a_token_in_the_path_of_a_request_is_hidden(
    root_logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    listener = start_logging("INFO")
    log_request({"path": f"/api/v1/auth/sessions/{JWT}", "status": 404})
    listener.stop()
    line = json.loads(capsys.readouterr().out)
    assert (line["message"], line["status"]) == ("request", 404)
    assert JWT.rpartition(".")[2] not in line["path"]
