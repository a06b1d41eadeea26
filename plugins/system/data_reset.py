"""Data reset: empties the collections of business plugins (SPEC 5.5: super administrators only)."""

from __future__ import annotations

import logging
from typing import Any

from plugins.api import Catalogue, FieldError, Request, ValidationFailed, remove_dangling

log = logging.getLogger("tradewind.system")
PROTECTED = ("auth", "core", "rbac", "system")


async def reset(req: Request) -> dict[str, Any]:
    """Remove every record of the named plugins for good, and what refers to them; answers how many, by collection.

    No transaction could hold it: after a time-out the same request goes on with what is left.
    """
    modules = req.body["modules"]
    catalogue = req.part(Catalogue)
    faults = [
        FieldError(f"modules[{place}]", "enum")
        for place, module in enumerate(modules)
        if module in PROTECTED or module not in catalogue.plugins
    ]
    if faults:
        raise ValidationFailed(faults)
    log.warning("data reset", extra={"modules": modules})
    service = req.service
    emptied = list(catalogue.collections_of(modules))
    wiped = [{"name": one.name, "removed": await service.database.wipe(one)} for one in emptied]
    following = await remove_dangling(service.database, catalogue.biz_types, (one.name for one in emptied))
    wiped += [{"name": name, "removed": removed} for name, removed in following.items()]
    await req.emit("system.data_reset", modules=modules)
    return {"collections": wiped, "removed": sum(row["removed"] for row in wiped)}
