"""Slugs: the names of records in addresses, made from titles by pinyin."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Awaitable, Callable
from typing import Any

from plugins.api import DUPLICATE, ApiError, Store

MAX_LENGTH = 80
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_ID = re.compile(r"[0-9a-f]{24}", re.IGNORECASE)


def is_id(name: str) -> bool:
    """Whether a name in an address is an `id`; no slug looks like one."""
    return _ID.fullmatch(name) is not None


def slug_of(title: str, otherwise: str) -> str:
    """`新品 Launch` as `xin-pin-launch`; `otherwise` where nothing is left of the title."""
    from pypinyin import lazy_pinyin  # late: its dictionary takes a quarter of a second to read

    plain = "".join(part for part in unicodedata.normalize("NFKD", title) if not unicodedata.combining(part))
    words = "-".join(lazy_pinyin(plain)).lower()
    slug = _SEPARATORS.sub("-", words).strip("-")[:MAX_LENGTH].strip("-")
    return f"{otherwise}-{slug}" if is_id(slug) else slug or otherwise


async def create_with_slug(
    store: Store, given: str | None, title: str, otherwise: str, create: Callable[[str], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    """What `create` makes under the slug that was given, or under a free one made from `title`.

    `store` sees every record that a slug must differ from.
    """
    if given is not None:
        return await create(given)
    slug = slug_of(title, otherwise)
    if await store.count({"slug": slug}):
        slug = _another(slug)
    try:
        return await create(slug)
    except ApiError as error:
        if error.kind is not DUPLICATE:
            raise
        # somebody took it since it was found free
        return await create(_another(slug))


def _another(slug: str) -> str:
    return f"{slug}-{secrets.token_hex(3)}"
