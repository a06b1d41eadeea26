"""Previews: a signed link shows an article in any state, until it expires, to whoever holds it."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from plugins.api import NOT_FOUND, ApiError, Request
from plugins.cms.category_tree import Categories
from plugins.cms.public import with_category
from plugins.cms.records import ARTICLES
from plugins.cms.settings import CmsSettings

AT = "/api/v1/cms/preview"


async def make_link(req: Request) -> dict[str, Any]:
    """A link to an article in the caller's data scope; it names what it opens and until when, nothing else."""
    article = await req.store(ARTICLES).get(req.path["id"])
    seconds = int(req.service.settings_of(CmsSettings).cms_preview_minutes * 60)
    until = int(req.now.timestamp()) + seconds
    signature = _signature(req.service.signing_secrets[0], str(article["id"]), until)
    return {"url": f"{AT}/{article['id']}?token={until}.{signature}", "expiresIn": seconds}


async def show(req: Request) -> dict[str, Any]:
    """The article of a link; 40400 for a link that is wrong, expired, or of an article that is deleted."""
    id = req.path["id"]
    if not _holds(req, id, req.query.get("token", "")):
        raise ApiError(NOT_FOUND)
    article = await req.system_store(ARTICLES).get(id)
    # the address is the key: it goes neither into caches and indexes nor to the sites that the article links to
    req.answer_headers |= {"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer"}
    return with_category(await req.part(Categories).tree(), article)


def _holds(req: Request, id: str, token: str) -> bool:
    until, _, signature = token.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 12 and signature.isascii()):
        return False
    genuine = any(
        hmac.compare_digest(signature, _signature(secret, id, int(until))) for secret in req.service.signing_secrets
    )
    return genuine and int(until) > req.now.timestamp()


def _signature(secret: str, id: str, until: int) -> str:
    return hmac.new(secret.encode(), f"cms.preview\n{id}\n{until}".encode(), hashlib.sha256).hexdigest()
