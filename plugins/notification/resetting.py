"""Removes notifications about removed records after a data reset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from plugins.api import Service
from plugins.api.records import Catalogue
from plugins.notification.records import MESSAGES


async def after_reset(service: Service, payload: Mapping[str, Any]) -> None:
    """Remove the messages that link to a page of the emptied modules or are about one of their records."""
    modules = payload["modules"]
    emptied = {collection.name for collection in service.part(Catalogue).collections_of(modules)}
    types = [name for name, collection in service.part(Catalogue).biz_types.items() if collection.name in emptied]
    pages = f"^/({'|'.join(re.escape(module) for module in modules)})(/|$)"
    about = {"$or": [{"link": {"$regex": pages}}, {"data.biz_type": {"$in": types}}]}
    await service.database.remove(MESSAGES, about)
