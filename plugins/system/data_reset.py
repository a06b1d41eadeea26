"""Data reset: empties the collections of business plugins. Only super administrators may do it."""

from __future__ import annotations

import logging
from typing import Any

from plugins.api import Request, Route, route
from plugins.api.data import remove_dangling
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.events import DATA_RESET
from plugins.api.records import Catalogue
from plugins.api.requests import SUPER
from plugins.system.records import RESET, RESET_BODY

log = logging.getLogger("tradewind.system")
PROTECTED = ("auth", "core", "rbac", "system")


async def reset(req: Request) -> dict[str, Any]:
    """Hard-delete every record of the named plugins and what refers to them; return how many, by collection.

    This is not a transaction, which could not hold so many writes. After a time-out, sending the same request again
    continues with the rest.
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
    dangling = await remove_dangling(service.database, catalogue.biz_types, (one.name for one in emptied))
    wiped += [{"name": name, "removed": removed} for name, removed in dangling.items()]
    await req.emit(DATA_RESET, modules=modules)
    return {"collections": wiped, "removed": sum(row["removed"] for row in wiped)}


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/system/data-reset",
        reset,
        summary="Remove all records of business plugins",
        access=SUPER,
        body=RESET_BODY,
        returns=RESET,
    ),
)
