"""Requests that cost the most that anybody may send: the event loop is there for others meanwhile."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from handlers.data.lists.normalizing import pinyin
from plugins.boot.runtime import Running
from plugins.testing import Client
from tests.api.crm.tables import form
from tests.experiments.growing_inputs import CSV, HTML, JSON, MARKDOWN, SVG
from tests.support.watchdog import LoopWatchdog

pytestmark = pytest.mark.gen_test(timeout=60)
LIMIT_SECONDS = 0.05
JSON_TYPE = {"Content-Type": "application/json"}


def article(content: bytes, format: str, field: str) -> bytes:
    return json.dumps({"title": "costly", "format": format, field: content.decode()}).encode()


def table(content: bytes) -> tuple[bytes, dict[str, str]]:
    return form({"dry_run": "true", "file": ("table", content)})


def drawing(content: bytes) -> tuple[bytes, dict[str, str]]:
    return form({"file": ("a.svg", content)})


LOGIN, ARTICLES, IMPORT, UPLOAD = (
    "/api/v1/auth/login",
    "/api/v1/cms/manage/articles",
    "/api/v1/crm/customers/import",
    "/api/upload",
)
REQUESTS = [
    *((LOGIN, JSON[name](1 << 20)[: 1 << 20], JSON_TYPE) for name in ("objects", "unknown names", "open brackets")),
    *((LOGIN, JSON[name](60_000), JSON_TYPE) for name in ("unknown names", "texts", "brackets of both kinds")),
    *(
        (ARTICLES, article(HTML[name](size), "html", "content"), JSON_TYPE)
        for name in ("formatting before blocks", "formatting with hidden ends", "a long address", "paragraphs")
        for size in (3900, 11_893, 228_893)
    ),
    (ARTICLES, article(MARKDOWN["pictures"](30_000), "markdown", "source"), JSON_TYPE),
    *((IMPORT, *table(CSV[name](300_000))) for name in ("one header again and again", "columns", "a long cell")),
    *((UPLOAD, *drawing(SVG[name](1 << 20))) for name in ("elements", "a long attribute", "brackets")),
]


@pytest.mark.parametrize(("path", "raw", "headers"), REQUESTS, ids=[f"{path} {len(raw)}" for path, raw, _ in REQUESTS])
async def test_a_costly_request_does_not_hold_the_loop(
    path: str, raw: bytes, headers: dict[str, str], admin: Client, tradewind: Running, tmp_path: Path
) -> None:
    await admin.get("/api/health")
    pinyin("")  # its dictionaries, which a server loads at its start
    with LoopWatchdog(asyncio.get_running_loop(), LIMIT_SECONDS) as watching:
        reply = await admin.call("POST", path, raw=raw, headers=headers)
    assert reply.status < 500
    assert [str(block) for block in watching.blocks] == []
