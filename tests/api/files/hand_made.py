"""Requests of files that cannot be made from a declaration alone (see tests/support/special_requests.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from handlers.route import Route
from plugins.testing import expect
from tests.api.files.samples import PNG, form, upload
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

UPLOAD, ATTACHMENTS = "/api/upload", "/api/attachments"


async def upload_form(maker: Maker, route: Route) -> Exercise:
    raw, headers = form(("file", "photo.png", PNG), ("visibility", None, b"public"))
    return Exercise(maker.admin, route, route.path, raw=raw, headers=headers)


async def signed_upload(maker: Maker, route: Route) -> Exercise:
    query = f"file_name=photo.png&content_type=image/png&size={len(PNG)}"
    signed = expect(await maker.admin.get(f"{UPLOAD}/sts?{query}"))
    return Exercise(maker.admin, route, signed["uploadUrl"], raw=PNG, headers=signed["headers"])


async def public_file(maker: Maker, route: Route) -> Exercise:
    stored = await upload(maker.admin, PNG, "photo.png", "public")
    return Exercise(maker.admin, route, path_with(route, stored["objectKey"]), record=stored)


async def key_of_nothing(maker: Maker, route: Route) -> Exercise:
    """Only keys of one's own files are valid."""
    return replace(await maker.derived(route), code=40400)


async def attach(maker: Maker, route: Route) -> Exercise:
    stored = await upload(maker.admin, PNG, "photo.png")
    customer = await maker.record("crm_customers")
    body = {"biz_type": "CUSTOMER", "resource_id": customer["id"], "object_key": stored["objectKey"]}
    return Exercise(maker.admin, route, route.path, body)


async def detach(maker: Maker, route: Route) -> Exercise:
    attached = expect(await (await attach(maker, replace(route, path=ATTACHMENTS, method="POST"))).send())
    return Exercise(maker.admin, route, path_with(route, attached["id"]), record=attached)


async def attached_to(maker: Maker, route: Route) -> Exercise:
    """The attachments of a record that an administrator can see."""
    attached = await attach(maker, replace(route, path=ATTACHMENTS, method="POST"))
    expect(await attached.send())
    of = {name: attached.body[name] for name in ("biz_type", "resource_id")}
    return Exercise(maker.admin, route, f"{route.path}?{urlencode(of)}")


FILES_HAND_MADE: Mapping[str, HandMade] = {
    f"POST {UPLOAD}": upload_form,
    f"PUT {UPLOAD}/direct": signed_upload,
    "GET /api/files/public/{key}": public_file,
    "GET /api/file/sign": key_of_nothing,
    "GET /api/file/dl": key_of_nothing,
    f"POST {ATTACHMENTS}": attach,
    f"GET {ATTACHMENTS}": key_of_nothing,
    f"DELETE {ATTACHMENTS}/{{id}}": detach,
}
