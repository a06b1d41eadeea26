"""Explains passes: what a person may read because they are asked about it."""

from __future__ import annotations

from plugins.api import Actor, ApiError, Collection, Request, Route
from plugins.api.ports import Passage, Passes, pass_for
from plugins.rbac import messages


async def explain_pass(
    req: Request, actor: Actor, route: Route | None, collection: Collection | None, id: str
) -> str | None:
    """Return why a pass lets this person read the record by this route, or None if none does.

    A pass needs neither the permission nor the data scope. Also None for a record that the caller does not see.
    """
    passes: Passes | None = req.service.parts.get(Passes)
    if passes is None or route is None or collection is None or not route.reads:
        return None
    try:
        await req.store(collection).get(id)
    except ApiError:
        return None
    reason = await pass_for(Passage(passes, actor, req.service.database.parents), req.service, collection, id)
    return messages.PASSED.text(req.language, reason=reason.text(req.language)) if reason is not None else None
