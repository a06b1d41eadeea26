"""Credit of customers: the limit on what they owe and have on order together, and their payment terms."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Request, Service, exact
from plugins.api.business import OVER_CREDIT_LIMIT, Books, Contact, Contracts, Customers, Party, PaymentTerms
from plugins.crm.contacts import find_contacts
from plugins.crm.contracts import DraftedContracts
from plugins.crm.options import CREDIT_LIMIT_KEY
from plugins.crm.records import CUSTOMERS
from plugins.system.api import Configs


@dataclass(frozen=True)
class KeptCustomers(Customers):
    """The customers that crm keeps."""

    service: Service

    async def find_terms(self, customer_id: Any) -> int | None:
        """Return the number of days within which the customer pays, or None."""
        return (await self.find_payment_terms(customer_id)).terms_days

    async def find_payment_terms(self, customer_id: Any) -> PaymentTerms:
        """Return when the customer pays."""
        return PaymentTerms.of(await self.service.database.store(CUSTOMERS).find_one({"_id": customer_id}) or {})

    async def find_party(self, req: Request, customer_id: Any) -> Party:
        """Return what documents copy of a customer, as far as the caller may see it."""
        customer = await req.store(CUSTOMERS).find_one({"_id": customer_id})
        return Party(customer["vat_number"], customer["addresses"] or ()) if customer is not None else Party()

    async def find_tax(self, customer_id: Any) -> Any:
        """Return the tax of the lines of the customer's orders, or None."""
        customer = await self.service.database.store(CUSTOMERS).find_one({"_id": customer_id})
        return customer["tax_id"] if customer is not None else None

    async def find_price_lists(self, customer_id: Any) -> Sequence[Any]:
        """Return the price lists of the customer's own, the preferred one first."""
        customer = await self.service.database.store(CUSTOMERS).find_one({"_id": customer_id})
        return (customer["price_list_ids"] if customer is not None else None) or ()

    async def find_currency(self, customer_id: Any) -> str | None:
        """Return the currency of the customer's new documents, or None for the company's own."""
        customer = await self.service.database.store(CUSTOMERS).find_one({"_id": customer_id})
        return customer["currency"] if customer is not None else None

    async def find_credit_excess(self, customer_id: Any, *, requested: Decimal, ordered: Decimal) -> Decimal | None:
        """Return by how much an order exceeds the credit limit of its customer, or None if it does not.

        Raises 40901 instead if the option `crm_credit_limit` is `refuse`. Then the orders of a customer wait for each
        other, so that together they stay within the limit.
        """
        service = self.service
        customer = await service.database.store(CUSTOMERS).find_one({"_id": customer_id})
        if customer is None or customer["credit_limit"] is None:
            return None
        refuses = await service.part(Configs).value(CREDIT_LIMIT_KEY) == "refuse"
        if refuses:
            await service.database.lock(CUSTOMERS, f"{customer_id}:credit")
        limit, used = exact(customer["credit_limit"]), ordered + await service.part(Books).find_owed(customer_id)
        if used + requested <= limit:
            return None
        if refuses:
            shown = {"limit": f"{limit:.2f}", "open": f"{used:.2f}", "requested": f"{requested:.2f}"}
            raise ApiError(CONFLICT, OVER_CREDIT_LIMIT.filled(**shown), data=shown)
        return used + requested - limit

    async def find_contacts(self, req: Request, customer_ids: Sequence[Any]) -> Mapping[Any, Contact]:
        """Return whom to call at each of the customers that the caller may see, by the id of the customer."""
        return await find_contacts(req, customer_ids)


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the customers, and contracts with them."""
    service.provide(Customers, KeptCustomers(service))
    service.provide(Contracts, DraftedContracts(service))
    yield
