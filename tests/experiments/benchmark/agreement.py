"""Checks that the servers which are compared return the same responses."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.experiments.benchmark.works import Call, Work


def check(work: Work, ports: Mapping[str, int]) -> str:
    """Check the response of every server, by its name, before it is timed; return the total of a list.

    Raises `RuntimeError` if a response differs from that of the first server, or a forged token is accepted.
    """
    call, total, expected = work.calls[0], "", None
    for name, port in ports.items():
        status, body = ask(port, call)
        shown = comparable(body.get("data"))
        expected = shown if expected is None else expected
        same = shown == expected if call.method == "GET" else sorted(shown or ()) == sorted(expected or ())
        if status != 200 or body["code"] != 0 or not same:
            raise RuntimeError(f"{work.code} on {name}: {status} {json.dumps(body)[:600]}\nnot {expected!r:.600}")
        if call.token and ask(port, Call(call.method, call.path, call.token[:-3] + "xxx", call.body))[0] != 401:
            raise RuntimeError(f"{work.code} on {name} takes a forged token")
        if isinstance(shown, dict) and "total" in shown:
            total = f"{shown['total']:,}"
    return total


def comparable(data: Any) -> Any:
    """Return a response without what only Tradewind adds: the next cursor, reference names, responsible departments."""
    if isinstance(data, dict):
        added = ("next_cursor", "_name", "_names", "owner_department_id")
        return {name: comparable(value) for name, value in data.items() if not name.endswith(added)}
    return [comparable(item) for item in data] if isinstance(data, list) else data


def ask(port: int, call: Call) -> tuple[int, Any]:
    """Send one request, and return the status and the body."""
    headers = {"Content-Type": "application/json"} if call.body else {}
    headers |= {"Authorization": f"Bearer {call.token}"} if call.token else {}
    body = call.body.replace("{n}", str(time.time_ns())).encode() if call.body else None
    try:
        with urlopen(Request(f"http://127.0.0.1:{port}{call.path}", body, headers, method=call.method)) as response:
            return response.status, json.load(response)
    except HTTPError as error:
        return error.code, json.load(error)
