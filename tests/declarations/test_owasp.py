"""`OWASP.md` says which tests prove what; this proves that they exist, and what it says of outgoing calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("no_collection")

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "tests" / "OWASP.md").read_text()
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TABLE)
HTTP_CLIENTS = {
    "tornado.httpclient",
    "tornado.simple_httpclient",
    "aiohttp",
    "aiobotocore",
    "httpx",
    "requests",
    "urllib.request",
    "http.client",
    "smtplib",
    "aiosmtplib",
}
# who may call out, to addresses of the settings: WeCom, the mail server, the object store, public files, the client of the tests, and
# the stand-in for WeCom, a program of its own beside a demo; and webhooks, to addresses outside that people choose
CALL_OUT = {
    "plugins/auth/wecom_client.py",
    "plugins/commands/diagnosis/storage.py",
    "plugins/commands/wecom_simulator.py",
    "plugins/files/s3.py",
    "plugins/notification/mail.py",
    "plugins/testing/__init__.py",
    "plugins/webhook/posting.py",
}


def modules() -> Iterator[Path]:
    for folder in ("config", "handlers", "plugins"):
        yield from (ROOT / folder).rglob("*.py")


def imported(path: Path) -> set[str]:
    """The modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@cache
def functions(path: str) -> set[str]:
    """The names of the functions of a file; none if there is no such file."""
    if not (ROOT / path).exists():
        return set()
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_risk_has_a_row_with_proofs() -> None:
    rows = [re.findall(r"\*\*API(\d+)\*\*", line) for line in TABLE.splitlines() if "::test_" in line]
    assert sorted(int(number) for row in rows for number in row) == list(range(1, 11))


def test_every_proof_exists() -> None:
    assert len(NAMED) > 50
    assert [f"{path}::{name}" for path, name in NAMED if name not in functions(path)] == []


def test_only_the_clients_of_configured_services_call_out() -> None:
    calling = {
        str(path.relative_to(ROOT))
        for path in modules()
        if any(name == client or name.startswith(f"{client}.") for name in imported(path) for client in HTTP_CLIENTS)
    }
    assert calling <= CALL_OUT


def test_no_call_follows_a_redirect() -> None:
    # the default of Tornado's client is to follow
    for client in ("auth/wecom_client.py", "webhook/posting.py"):
        source = (ROOT / "plugins" / client).read_text()
        assert source.count("HTTPRequest(") == source.count("follow_redirects=False") > 0
