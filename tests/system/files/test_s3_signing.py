"""Presigned addresses, held against botocore's own signer: moto does not check signatures, so these tests do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from tornado.ioloop import IOLoop

from plugins.api import utc_now
from plugins.files.names import new_key
from plugins.files.s3 import S3Storage, open_s3_storage
from plugins.files.settings import FilesSettings
from plugins.files.storage import Label
from plugins.files.types import PDF, SVG
from tests.support.s3_stand_in import ACCESS_KEY, REGION, SECRET_KEY

pytestmark = pytest.mark.gen_test(timeout=30)
INSIDE, OUTSIDE = "http://s3.internal:9000", "https://files.example.com"
LABEL = Label("合同 v1.pdf", PDF)
KEY = new_key(utc_now(), ".pdf")
SETTINGS: dict[str, Any] = {
    "storage": "s3",
    "s3_endpoint": INSIDE,
    "s3_public_endpoint": OUTSIDE,
    "s3_region": REGION,
    "s3_access_key": ACCESS_KEY,
    "s3_secret_key": SECRET_KEY,
    "s3_public_bucket": "bucket-public",
    "s3_private_bucket": "bucket-private",
}


@pytest.fixture(scope="module")
def storage(io_loop: IOLoop) -> Iterator[S3Storage]:
    """An S3 that cannot be reached: signing makes no request."""
    stack = AsyncExitStack()
    yield io_loop.run_sync(
        lambda: stack.enter_async_context(open_s3_storage(FilesSettings(_env_file=None, **SETTINGS)))
    )
    io_loop.run_sync(stack.aclose)


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def signature(method: str, url: str, headers: dict[str, str]) -> str:
    """What botocore's signer makes of this request at the moment that the address names."""
    query = query_of(url)
    unsigned = {name: value for name, value in query.items() if not name.startswith("X-Amz-")}
    plain = url.partition("?")[0] + (f"?{urlencode(unsigned)}" if unsigned else "")
    signer = S3SigV4QueryAuth(Credentials(ACCESS_KEY, SECRET_KEY), "s3", REGION, int(query["X-Amz-Expires"]))
    request = AWSRequest(method, plain, headers)
    request.context["timestamp"] = query["X-Amz-Date"]
    signer._modify_request_before_signing(request)
    return signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)


async def upload_address(storage: S3Storage, size: int = 1234) -> tuple[str, dict[str, str]]:
    address = await storage.upload_address("private", KEY, LABEL, size, 900)
    return address.url, {**address.headers, "Content-Length": str(size)}


async def test_the_signature_is_the_one_that_s3_computes(storage: S3Storage) -> None:
    url, headers = await upload_address(storage)
    assert signature("PUT", url, headers) == query_of(url)["X-Amz-Signature"]


async def test_type_and_size_are_bound_by_the_signature(storage: S3Storage) -> None:
    url, headers = await upload_address(storage)
    assert query_of(url)["X-Amz-SignedHeaders"] == "content-length;content-type;host"
    for name, other in {"Content-Type": "text/html", "Content-Length": "1235"}.items():
        assert signature("PUT", url, {**headers, name: other}) != query_of(url)["X-Amz-Signature"]


async def test_key_bucket_and_method_are_bound_by_the_signature(storage: S3Storage) -> None:
    url, headers = await upload_address(storage)
    others = [
        ("PUT", url.replace(KEY, new_key(utc_now(), ".pdf"))),
        ("PUT", url.replace("private", "public")),
        ("GET", url),
    ]
    for method, other in others:
        assert signature(method, other, headers) != query_of(url)["X-Amz-Signature"]


async def test_an_upload_has_15_minutes(storage: S3Storage) -> None:
    url, headers = await upload_address(storage)
    assert query_of(url)["X-Amz-Expires"] == "900"
    longer = url.replace("X-Amz-Expires=900", "X-Amz-Expires=9000")
    assert signature("PUT", longer, headers) != query_of(url)["X-Amz-Signature"]


async def test_the_headers_of_a_public_file_are_bound_by_the_signature(storage: S3Storage) -> None:
    label = Label("logo.svg", SVG)
    address = await storage.upload_address("public", KEY, label, 10, 900)
    assert address.headers["Content-Disposition"].startswith("attachment")
    assert "content-disposition" in query_of(address.url)["X-Amz-SignedHeaders"]
    sent = {**address.headers, "Content-Length": "10"}
    assert signature("PUT", address.url, sent) == query_of(address.url)["X-Amz-Signature"]
    inline = {**sent, "Content-Disposition": "inline"}
    assert signature("PUT", address.url, inline) != query_of(address.url)["X-Amz-Signature"]


async def test_a_download_has_an_hour_and_the_name_of_the_file(storage: S3Storage) -> None:
    url = await storage.download_address(KEY, LABEL, 3600)
    query = query_of(url)
    assert query["X-Amz-Expires"] == "3600"
    assert query["response-content-type"] == "application/pdf"
    assert query["response-content-disposition"] == LABEL.disposition
    assert signature("GET", url, {}) == query["X-Amz-Signature"]


async def test_addresses_lead_to_where_browsers_reach_s3(storage: S3Storage) -> None:
    url, _ = await upload_address(storage)
    for address in (url, await storage.download_address(KEY, LABEL, 60), storage.public_url(KEY)):
        assert address.startswith(OUTSIDE)
    assert storage.public_url(KEY) == f"{OUTSIDE}/bucket-public/{KEY}"


@pytest.mark.parametrize(
    ("change", "url"),
    [
        ({"s3_public_url": "https://cdn.example.com/files/"}, f"https://cdn.example.com/files/{KEY}"),
        ({"s3_public_endpoint": ""}, f"{INSIDE}/bucket-public/{KEY}"),
        ({"s3_addressing": "virtual"}, f"https://bucket-public.files.example.com/{KEY}"),
        ({"s3_endpoint": "", "s3_public_endpoint": ""}, f"https://bucket-public.s3.{REGION}.amazonaws.com/{KEY}"),
    ],
    ids=["cdn", "inside", "virtual", "amazon"],
)
async def test_the_link_of_a_public_file_follows_the_settings(change: dict[str, str], url: str) -> None:
    async with open_s3_storage(FilesSettings(_env_file=None, **{**SETTINGS, **change})) as storage:
        assert storage.public_url(KEY) == url


async def test_a_secret_is_in_no_address(storage: S3Storage) -> None:
    url, _ = await upload_address(storage)
    assert SECRET_KEY not in url + await storage.download_address(KEY, LABEL, 60)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"s3_private_bucket": ""}, "TRADEWIND_S3_PRIVATE_BUCKET"),
        ({"s3_public_bucket": "bucket-private"}, "two buckets"),
        ({"public_file_types": "image/png,image/unheard-of"}, "image/unheard-of"),
    ],
)
def test_settings_that_do_not_fit_say_what_is_wrong(change: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FilesSettings(_env_file=None, **{**SETTINGS, **change})
