"""Data reset: empties the collections of business plugins (SPEC 5.5: super administrators only)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from plugins.api import Collection, FieldError, Request, ValidationFailed

log = logging.getLogger("tradewind.system")
PROTECTED = ("auth", "core", "rbac", "system")


async def reset(req: Request) -> dict[str, Any]:
    """Remove every record of the named plugins for good; answers how many, by collection.

    No transaction could hold it: after a time-out the same request goes on with what is left.
    """
    modules = req.body["modules"]
    names = req.service.catalogue.plugins
    faults = [
        FieldError(f"modules[{place}]", "enum")
        for place, module in enumerate(modules)
        if module in PROTECTED or module not in names
    ]
    if faults:
        raise ValidationFailed(faults)
    log.warning("data reset", extra={"modules": modules})
    wiped = [
        {"name": collection.name, "removed": await req.service.database.wipe(collection)}
        for collection in _collections_of(req, modules)
    ]
    await req.emit("system.data_reset", modules=modules)
    return {"collections": wiped, "removed": sum(row["removed"] for row in wiped)}


def _collections_of(req: Request, modules: Sequence[str]) -> Iterator[Collection]:
    names = req.service.catalogue.plugins
    for name, collection in req.service.catalogue.collections.items():
        # the longest name, so that `crm_plus_…` is not taken for a collection of `crm`
        owner = max((plugin for plugin in names if name.startswith(f"{plugin}_")), key=len, default="core")
        if owner in modules:
            yield collection
