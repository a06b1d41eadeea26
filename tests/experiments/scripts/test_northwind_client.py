"""How the REST client of `python -m tests.experiments.northwind_load` behaves where the service asks to wait, refuses or pages."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from tests.experiments.northwind_load.client import Client, ServiceError


class Answers(HTTPServer):
    """Gives the prepared answers one after the other and remembers what was asked."""

    def __init__(self) -> None:
        self.prepared: list[tuple[int, dict[str, str], bytes]] = []
        self.asked: list[tuple[str, str | None]] = []
        super().__init__(("127.0.0.1", 0), Answering)

    def prepare(self, status: int, body: Any, **headers: str) -> None:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.prepared.append((status, headers, text))

    @property
    def client(self) -> Client:
        return Client(f"http://127.0.0.1:{self.server_port}")


class Answering(BaseHTTPRequestHandler):
    server: Answers

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.path, self.headers.get("Idempotency-Key")))
        status, headers, body = self.server.prepared.pop(0)
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer  # noqa: N815 - the names that http.server calls

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def answers() -> Iterator[Answers]:
    server = Answers()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("status", [429, 503])
def test_a_request_asked_to_wait_is_sent_again_with_the_same_key(answers: Answers, status: int) -> None:
    answers.prepare(status, {"code": status * 100, "msg": "slow", "data": None}, Retry_After="0")
    answers.prepare(200, {"code": 0, "msg": "ok", "data": {"id": 1}})
    assert answers.client.create("/crm/customers", {}) == {"id": 1}
    (_, first), (_, second) = answers.asked
    assert first is not None
    assert first == second


def test_a_service_that_is_always_busy_is_given_up(answers: Answers) -> None:
    for _ in range(5):
        answers.prepare(429, {"code": 42900, "msg": "slow", "data": None}, Retry_After="0")
    with pytest.raises(ServiceError, match="42900 slow"):
        answers.client.call("GET", "/crm/customers")
    assert len(answers.asked) == 5


def test_a_list_is_read_to_its_end(answers: Answers) -> None:
    for number, cursor in ((1, "a/b"), (2, None)):
        page = {"items": [{"id": number}], "next_cursor": cursor}
        answers.prepare(200, {"code": 0, "msg": "ok", "data": page})
    assert [record["id"] for record in answers.client.every("/crm/customers")] == [1, 2]
    assert answers.asked[1][0].endswith("cursor=a%2Fb")


def test_a_refusal_names_the_fields_at_fault(answers: Answers) -> None:
    fault = {"field": "phone", "rule": "pattern", "message": "is no phone number"}
    answers.prepare(400, {"code": 40001, "msg": "Validation failed", "data": {"errors": [fault]}})
    with pytest.raises(ServiceError, match=r"40001 Validation failed \(phone: is no phone number\)"):
        answers.client.create("/crm/customers", {})


def test_a_response_that_is_no_envelope_is_named_as_such(answers: Answers) -> None:
    answers.prepare(502, b"<html>Bad gateway</html>")
    with pytest.raises(ServiceError, match="GET /crm/customers: answered 502 without an envelope"):
        answers.client.call("GET", "/crm/customers")


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(ServiceError, match="is no address such as"):
        Client("localhost:8000")
