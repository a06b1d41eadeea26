"""Previews: a signed link that shows an article in any state to whoever has the link, until it expires."""

from __future__ import annotations

from typing import Any

from plugins.api import NOT_FOUND, PUBLIC, ApiError, Refusal, Request, Route, route, text
from plugins.api.requests import Signatures
from plugins.cms.categories import Categories
from plugins.cms.messages import BAD_LINK
from plugins.cms.public import add_category
from plugins.cms.records import ARTICLES, PREVIEW, PREVIEW_LINK
from plugins.cms.settings import CmsSettings

AT = "/api/v1/cms/preview"
_PURPOSE = "cms.preview"
_TOKEN = text(max_length=200, nullable=False, example="1795248000.0", description="The token in the preview link.")


async def make_link(req: Request) -> dict[str, Any]:
    """Return a link to an article in the caller's data scope. It contains the id, the expiry time and the signature."""
    article = await req.store(ARTICLES).get(req.path["id"])
    seconds = int(req.service.settings_of(CmsSettings).cms_preview_minutes * 60)
    until = int(req.now.timestamp()) + seconds
    signature = Signatures(req.service.signing_secrets).sign(_PURPOSE, {"id": str(article["id"])}, until)
    return {"url": f"{AT}/{article['id']}?token={until}.{signature}", "expiresIn": seconds}


async def show(req: Request) -> dict[str, Any]:
    """Return the article of a link. Raises 40400 if the link is wrong or has expired, or if the article is deleted."""
    id = req.path["id"]
    if not _is_valid(req, id, req.query.get("token", "")):
        raise ApiError(NOT_FOUND)
    article = await req.system_store(ARTICLES).get(id)
    # the URL grants access, so it must not get into caches, search engines or the logs of linked sites
    req.response_headers |= {"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer"}
    return add_category(await req.part(Categories).get_tree(), article)


def _is_valid(req: Request, id: str, token: str) -> bool:
    until, _, signature = token.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 12 and signature.isascii()):
        return False
    return Signatures(req.service.signing_secrets).is_valid(_PURPOSE, {"id": id}, int(until), signature)


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/cms/manage/articles/{id}/preview",
        make_link,
        summary="Create a preview link for an unpublished article",
        access="cms:article:preview",
        returns=PREVIEW_LINK,
        collection=ARTICLES.name,
    ),
    route(
        "GET /api/v1/cms/preview/{id}",
        show,
        summary="Read an article by its preview link",
        access=PUBLIC,
        query={"token": _TOKEN},
        returns=PREVIEW,
        refusals=(Refusal(NOT_FOUND, hint=BAD_LINK),),
    ),
)
