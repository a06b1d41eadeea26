"""Credit of customers: the limit on what they owe and have on order together, and their payment terms."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Service, exact
from plugins.api.events import OWED_ASKED
from plugins.crm.messages import OVER_CREDIT_LIMIT
from plugins.crm.options import CREDIT_LIMIT_KEY
from plugins.crm.records import CUSTOMERS
from plugins.system.api import Configs


async def check_limit(service: Service, payload: Mapping[str, Any]) -> None:
    """Check an order against the credit limit of its customer.

    If the order exceeds the limit, raise 40901 if the option `crm_credit_limit` is `refuse`, else put the excess into
    `found` of the payload. With `refuse`, the orders of a customer wait for each other, so that together they stay
    within the limit.
    """
    customer_id = payload["customer_id"]
    customer = await service.database.store(CUSTOMERS).find_one({"_id": customer_id})
    if customer is None or customer["credit_limit"] is None:
        return
    refuses = await service.part(Configs).value(CREDIT_LIMIT_KEY) == "refuse"
    if refuses:
        await service.database.lock(CUSTOMERS, f"{customer_id}:credit")
    limit, requested = exact(customer["credit_limit"]), payload["requested"]
    used = payload["ordered"] + await _find_owed(service, payload)
    if used + requested <= limit:
        return
    if refuses:
        shown = {"limit": f"{limit:.2f}", "open": f"{used:.2f}", "requested": f"{requested:.2f}"}
        raise ApiError(CONFLICT, OVER_CREDIT_LIMIT.filled(**shown), data=shown)
    payload["found"]["excess"] = used + requested - limit


async def tell_terms(service: Service, payload: Mapping[str, Any]) -> None:
    """Put the number of days within which a customer pays into `found` of the payload."""
    if payload.get("customer_id") is not None:
        customer = await service.database.store(CUSTOMERS).find_one({"_id": payload["customer_id"]})
        payload["found"]["days"] = customer["terms_days"] if customer is not None else None


async def _find_owed(service: Service, payload: Mapping[str, Any]) -> Decimal:
    """Return what the customer owes according to the plugin that keeps the books, or zero without such a plugin."""
    found: dict[str, Decimal] = {}
    asked = {"request": payload["request"], "customer_id": payload["customer_id"], "found": found}
    await service.events.emit(OWED_ASKED, asked)
    return found.get("owed", Decimal(0))
