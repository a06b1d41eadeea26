"""Questions about customers, suppliers and the books. The stated answers hold without a plugin that keeps these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from handlers.parts import Port
from handlers.request import Request
from handlers.route import conflicts
from handlers.schema.messages import Message
from handlers.schema.values import RecordId
from handlers.service import Service

OVER_CREDIT_LIMIT = Message(
    "超过客户信用额度 {limit}：已占用 {open}，本单 {requested}",
    "This exceeds the customer's credit limit of {limit}: {open} is already used, and this order adds {requested}",
)
CREDIT_REFUSALS = conflicts(OVER_CREDIT_LIMIT)


class Books(Port):
    """The closed months, and what is owed. Without books, no month is closed and nobody owes anything."""

    async def find_open_day(self, day: str) -> str:
        """Return the day on which the effect of something dated `day` is booked: the first one in no closed month."""
        return day

    async def find_owed(self, customer_id: RecordId) -> Decimal:
        """Return what a customer owes now, less what was paid too much and what is billed ahead of a delivery."""
        return Decimal(0)


@dataclass(frozen=True)
class Contact:
    """Whom to call at a customer; `name` is None if it is nobody in particular."""

    name: str | None
    phone: str | None
    email: str | None


class Customers(Port):
    """What is agreed with customers. Without a plugin that keeps them there are no terms, limits and contacts."""

    async def find_terms(self, customer_id: RecordId) -> int | None:
        """Return within how many days the customer pays, or None if that is not agreed."""
        return None

    async def find_credit_excess(
        self, customer_id: RecordId, *, requested: Decimal, ordered: Decimal
    ) -> Decimal | None:
        """Return by how much an order of the amount `requested` exceeds the credit limit, or None if it does not.

        `ordered` is the amount of other orders that are not delivered. Raises 40901 (`CREDIT_REFUSALS`) if orders over
        the limit are not allowed.
        """
        return None

    async def find_contacts(self, req: Request, customer_ids: Sequence[RecordId]) -> Mapping[RecordId, Contact]:
        """Return whom to call at each of the customers that the caller may see, by the id of the customer."""
        return {}


class Suppliers(Port):
    """What is agreed with suppliers. Without a plugin that keeps them there are no terms."""

    async def find_terms(self, supplier_id: RecordId) -> int | None:
        """Return within how many days the supplier is paid, or None if that is not agreed."""
        return None


async def find_booked_on(service: Service, day: str) -> str:
    """Return the first day from `day` on that is in no closed month: `day` itself unless a plugin that keeps books says so.

    For a date that is a fact beside the booking, such as the signing of a contract: it stays, and the effect is booked on
    the day that is returned. What is dated by the booking itself emits `DATED`, which refuses a closed month.
    """
    return await service.part(Books).find_open_day(day)
