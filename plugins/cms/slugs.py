"""Slugs: the names of records in URLs, made from titles by pinyin."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Awaitable, Callable

from plugins.api import ApiError, Store
from plugins.api.errors import DUPLICATE
from plugins.api.values import Row

MAX_LENGTH = 80
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_ID = re.compile(r"[0-9a-f]{24}", re.IGNORECASE)


def is_id(name: str) -> bool:
    """Return whether a name in a URL is an `id` rather than a slug; no slug has the form of an id."""
    return _ID.fullmatch(name) is not None


def make_slug(title: str, otherwise: str) -> str:
    """Return `xin-pin-launch` for `新品 Launch`, and `otherwise` for a title without letters and digits."""
    from pypinyin import lazy_pinyin  # loading its dictionary takes a quarter of a second

    plain = "".join(part for part in unicodedata.normalize("NFKD", title) if not unicodedata.combining(part))
    words = "-".join(lazy_pinyin(plain)).lower()
    slug = _SEPARATORS.sub("-", words).strip("-")[:MAX_LENGTH].strip("-")
    return f"{otherwise}-{slug}" if is_id(slug) else slug or otherwise


async def create_with_slug(
    store: Store[Row], given: str | None, title: str, otherwise: str, create: Callable[[str], Awaitable[Row]]
) -> Row:
    """Call `create` with the given slug, or with a free one made from `title`, and return its result.

    `store` must see every record that the slug must differ from.
    """
    if given is not None:
        return await create(given)
    slug = make_slug(title, otherwise)
    if await store.count({"slug": slug}):
        slug = _add_suffix(slug)
    try:
        return await create(slug)
    except ApiError as error:
        if error.kind is not DUPLICATE:
            raise
        # another request took the slug in the meantime
        return await create(_add_suffix(slug))


def _add_suffix(slug: str) -> str:
    return f"{slug}-{secrets.token_hex(3)}"
