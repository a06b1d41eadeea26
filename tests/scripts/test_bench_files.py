"""The S3 of `scripts/bench files` keeps what it is sent: figures of one that loses bytes would be worth nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plugins.api import utc_now
from plugins.files.names import new_key
from plugins.files.s3 import s3_storage
from plugins.files.settings import FilesSettings
from plugins.files.storage import Label
from plugins.files.types import PDF
from scripts.benchmark.files_report import table
from scripts.benchmark.lean_s3 import lean_s3
from scripts.benchmark.transfers import get_file, put_parts, remove

pytestmark = pytest.mark.gen_test(timeout=30)
MEBIBYTE = 1 << 20
LABEL = Label("a.pdf", PDF)


@pytest.mark.parametrize("size", [1, 11 * MEBIBYTE + 3])
async def test_what_the_service_sends_is_read_back(size: int, tmp_path: Path) -> None:
    content, key = os.urandom(size), new_key(utc_now(), ".pdf")
    with lean_s3(tmp_path / "s3") as endpoint:
        settings = FilesSettings(
            _env_file=None, s3_endpoint=endpoint, s3_access_key="any", s3_secret_key="any", s3_public_bucket="public",
            s3_private_bucket="private",
        )  # type: ignore[call-arg, arg-type]  # fmt: skip  # pydantic reads text where the settings hold secrets
        async with s3_storage(settings) as storage:
            async with storage.writer(key, "private", LABEL) as writer:
                for at in range(0, size, MEBIBYTE):
                    await writer.write(content[at : at + MEBIBYTE])
                etag = await writer.commit("private", LABEL)
            for start, stop in ((0, size), (size // 3, size - size // 3)):
                source = await storage.open("private", key, etag, start, stop)
                assert source is not None
                assert b"".join([block async for block in source]) == content[start:stop]
                await source.aclose()
            await storage.tidy(utc_now())


def test_the_floor_is_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(os.urandom(3 * MEBIBYTE + 1))
    with lean_s3(tmp_path / "s3") as endpoint:
        assert put_parts(endpoint, "/private/floor", path, MEBIBYTE).size == path.stat().st_size
        assert get_file(endpoint, "/private/floor", {}).size == path.stat().st_size
        remove(endpoint, "/private/floor")
        assert get_file(endpoint, "/private/floor", {}).size == 0


def test_a_result_is_two_lines_of_the_table() -> None:
    one = {"median": 1.0, "min": 1.0, "max": 1.0}
    ways = {"upload": one, "download": one}
    ratio = {f"{way} to {kind}": 0.5 for way in ways for kind in ("plain", "relay", "floor")}
    figures = {
        "mebibytes": 8, "megabytes_a_second": ways, "ratio": ratio, "processor_seconds_a_gigabyte": ways,
        "peak_growth_mebibytes": ways,
    }  # fmt: skip
    lines = table({"s3-fast": figures}).splitlines()
    assert lines[2:4] == [
        f"| s3-fast | {way}, 8 MiB | 1 | 0.5 | 0.5 (relay) | 0.5 | 1.0 | 1 |" for way in ("upload", "download")
    ]
