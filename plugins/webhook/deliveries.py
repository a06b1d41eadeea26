"""What was sent to a webhook, what came back, and sending it again."""

from __future__ import annotations

from plugins.api import NOT_FOUND, ApiError, Page, Record, Refusal, Request, Route, route
from plugins.webhook.messages import NO_DELIVERY
from plugins.webhook.records import DELIVERIES, KEPT_DAYS, WEBHOOKS


async def list_deliveries(req: Request) -> Page:
    """Return a page of the deliveries of a webhook, the newest first."""
    hook = await req.store(WEBHOOKS).get(req.path["id"])
    return await req.store(DELIVERIES).page(req.query, {"webhook_id": hook["id"]})


async def replay(req: Request) -> Record:
    """Send a delivery again, with the same message id and body; pending ones at once."""
    hook = await req.store(WEBHOOKS).get(req.path["id"])
    again = {"state": "pending", "attempts": 0, "next_at": req.now, "delivered_at": None}
    wanted = {"_id": req.path["delivery_id"], "webhook_id": hook["id"]}
    found = await req.store(DELIVERIES).update_where(wanted, again)
    if found is None:
        raise ApiError(NOT_FOUND)
    return found


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/webhooks/{id}/deliveries",
        list_deliveries,
        summary="List the deliveries of a webhook",
        title=("推送记录", "Deliveries"),
        access="system:webhook:read",
        query=DELIVERIES.list_query,
        returns=DELIVERIES.read,
        paged=True,
        collection=WEBHOOKS.name,
        description=f"They are kept for {KEPT_DAYS} days.",
    ),
    route(
        "POST /api/v1/system/webhooks/{id}/deliveries/{delivery_id}/replay",
        replay,
        summary="Send a delivery again",
        effect=("将以相同的内容再次发送。", "The same message is sent again."),
        access="system:webhook:replay",
        returns=DELIVERIES.read,
        refusals=(Refusal(NOT_FOUND, hint=NO_DELIVERY),),
    ),
)
