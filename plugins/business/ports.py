"""Questions about customers, suppliers and the books. The stated answers hold without a plugin that keeps these."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from handlers.events import Event
from handlers.request import Request
from handlers.route import conflicts
from handlers.schema.messages import Message
from handlers.schema.values import Payload, Record, RecordId
from handlers.service import Port, Service
from plugins.business.parties import Party
from plugins.business.terms import PaymentTerms
from plugins.plugin import Listener

OVER_CREDIT_LIMIT = Message(
    "超过客户信用额度 {limit}：已占用 {open}，本单 {requested}",
    "This exceeds the customer's credit limit of {limit}: {open} is already used, and this order adds {requested}",
)
CREDIT_REFUSALS = conflicts(OVER_CREDIT_LIMIT)


@dataclass(frozen=True)
class BilledOrder:
    """What invoices bill of an order, drafts included, less what was credited of it.

    `units` has how many of each line, by its number, also where all was credited; the number 0 is the freight. `amount` is
    what they claim in all, with tax.
    """

    units: Mapping[int, Decimal] = field(default_factory=dict)
    amount: Decimal = Decimal(0)


class Books(Port):
    """The closed months, and what is owed. Without books, no month is closed and nobody owes anything."""

    async def find_open_day(self, day: str) -> str:
        """Return the day on which the effect of something dated `day` is booked: the first one in no closed month."""
        return day

    async def find_owed(self, customer_id: RecordId) -> Decimal:
        """Return what a customer owes now, less what was paid too much and what is billed ahead of a delivery."""
        return Decimal(0)

    async def find_billed(self, biz_type: str, resource_id: str) -> BilledOrder:
        """Return what invoices bill of an order; until the transaction ends no other one of it is confirmed."""
        return BilledOrder()


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

    async def find_payment_terms(self, customer_id: RecordId) -> PaymentTerms:
        """Return when the customer pays: within the days of `find_terms`, unless more is agreed."""
        return PaymentTerms(await self.find_terms(customer_id))

    async def find_party(self, req: Request, customer_id: RecordId) -> Party:
        """Return what documents copy of a customer, as far as the caller may see it."""
        return Party()

    async def find_tax(self, customer_id: RecordId) -> RecordId | None:
        """Return the tax of the lines of the customer's orders, or None if the customer has none of its own."""
        return None

    async def find_price_lists(self, customer_id: RecordId) -> Sequence[RecordId]:
        """Return the price lists of the customer's own, the preferred one first."""
        return ()

    async def find_currency(self, customer_id: RecordId) -> str | None:
        """Return the currency of the customer's new documents, or None for the company's own."""
        return None

    async def find_credit_excess(
        self, customer_id: RecordId, *, requested: Decimal, ordered: Decimal
    ) -> Decimal | None:
        """Return by how much an order of the amount `requested` exceeds the credit limit, or None if it does not.

        `ordered` is the amount of other orders that are not delivered, both in the company's currency. Raises 40901 (`CREDIT_REFUSALS`) if orders over
        the limit are not allowed.
        """
        return None

    async def find_contacts(self, req: Request, customer_ids: Sequence[RecordId]) -> Mapping[RecordId, Contact]:
        """Return whom to call at each of the customers that the caller may see, by the id of the customer."""
        return {}


class Contracts(Port):
    """Drafts contracts of what was agreed elsewhere. Without a plugin that keeps contracts there are none."""

    async def draft(self, req: Request, values: Record) -> RecordId | None:
        """Create a draft and return its id; None without a plugin that keeps contracts.

        `values` has `customer_id`, `opportunity_id`, `name`, `amount`, `currency`, `rate` and `reference`. Raises 40001 for a
        customer or an opportunity that the caller does not see or that does not fit, and 40300 for one that they may only read.
        """
        return None

    async def find_currency(self, contract_id: RecordId) -> str | None:
        """Return the currency of a contract, or None for the company's own."""
        return None


class Suppliers(Port):
    """What is agreed with suppliers. Without a plugin that keeps them there are no terms."""

    async def find_terms(self, supplier_id: RecordId) -> int | None:
        """Return within how many days the supplier is paid, or None if that is not agreed."""
        return None

    async def find_payment_terms(self, supplier_id: RecordId) -> PaymentTerms:
        """Return when the supplier is paid: within the days of `find_terms`, unless more is agreed."""
        return PaymentTerms(await self.find_terms(supplier_id))

    async def find_currency(self, supplier_id: RecordId) -> str | None:
        """Return the currency of the supplier's new documents, or None for the company's own."""
        return None

    async def find_party(self, req: Request, supplier_id: RecordId) -> Party:
        """Return what documents copy of a supplier, as far as the caller may see it."""
        return Party()

    async def find_supplier(self, req: Request, vat_number: str | None, name: str | None) -> RecordId | None:
        """Return the one supplier with this tax number, or else of this name, as far as the caller may see it."""
        return None


@dataclass(frozen=True)
class BillableOrder:
    """What invoices may bill of an order.

    `lines` are those of the order with their amounts; the line of the number 0 is its freight. `units` has how many of each
    may be billed: those ordered, or those shipped if no more will be, less what came back. `shipped` has the units of each
    delivery or receipt, by the id of it and the number of the line. `left` has what all of the units come to, with tax, of
    lines of which some came back: returns are rounded by themselves.
    """

    lines: Sequence[Mapping[str, Any]]
    units: Mapping[int, Decimal]
    shipped: Mapping[RecordId, Mapping[int, Decimal]]
    left: Mapping[int, Decimal]


@dataclass(frozen=True)
class ShippedLine:
    """What was shipped of a line of an order, less what came back.

    `line` has its words and numbers; the number 0 is the freight, and None that of an order of an earlier version. `net` is what
    these `units` come to without tax, in the currency of the order.
    """

    line: Mapping[str, Any]
    units: Decimal
    net: Decimal


class PricedLines(Port):
    """Lines with products, prices and taxes, and those of orders. Without a plugin that keeps products there are none."""

    async def compute(
        self, req: Request, direction: str, lines: Sequence[Record], terms: Mapping[str, Any]
    ) -> Record | None:
        """Return lines that are sold (`direction` `out`) or bought (`in`) completed and with their amounts.

        `terms` has the customer or supplier, the currency and rate, and what else `compute_amounts` reads. The result has
        `lines`, `net_amount`, `tax_amount` and `amount`; it is None without a plugin that knows products. Raises 40001 for lines
        that contradict themselves.
        """
        return None

    async def find_billable(self, req: Request, biz_type: str, resource_id: str) -> BillableOrder | None:
        """Return what may be billed of an order, or None for what has no lines with numbers and amounts."""
        return None

    async def find_shipped(
        self, req: Request, biz_type: str, resource_ids: Sequence[str], until: str
    ) -> Mapping[str, Sequence[ShippedLine]]:
        """Return what was shipped of the lines of these orders until a day, by the id of the order."""
        return {}

    async def state(self, req: Request, lines: Sequence[Record]) -> Sequence[Record]:
        """Return lines as papers state them: each with its unit, and with the `treatment` of its tax and the `reason` if none is
        charged."""
        return lines


async def find_booked_on(service: Service, day: str) -> str:
    """Return the first day from `day` on that is in no closed month: `day` itself unless a plugin that keeps books says so.

    For a date that is a fact beside the booking, such as the signing of a contract: it stays, and the effect is booked on
    the day that is returned. What is dated by the booking itself emits `DATED`, which refuses a closed month.
    """
    return await service.part(Books).find_open_day(day)


OPEN_DAY_ASKED = Event("finance.open_day.asked", day=str, found=dict)
OWED_ASKED = Event("finance.owed.asked", customer_id=object, found=dict)
TERMS_ASKED = Event("finance.terms.asked", customer_id=object, supplier_id=object, found=dict)
CREDIT_ASKED = Event("finance.credit.asked", customer_id=object, requested=object, ordered=object, found=dict)
CONTACTS_ASKED = Event("finance.contacts.asked", customer_ids=Iterable, found=dict)


def _tell(key: str, port: type[Port], question: str, *names: str) -> Callable[[Service, Payload], Awaitable[None]]:
    """Return what puts the answer of a port as `key` into `found`; `names` of the payload say what is asked about."""

    async def tell(service: Service, payload: Payload) -> None:
        about = {name: payload.get(name) for name in names}
        answer = await getattr(service.part(port), question)(**about) if about[names[0]] is not None else None
        if answer is not None:
            payload["found"][key] = answer

    return tell


async def _tell_contacts(service: Service, payload: Payload) -> None:
    found = await service.part(Customers).find_contacts(payload["request"], list(payload["customer_ids"]))
    payload["found"].update({id: vars(contact) for id, contact in found.items()})


OF_BOOKS = (
    Listener(OPEN_DAY_ASKED, _tell("day", Books, "find_open_day", "day")),
    Listener(OWED_ASKED, _tell("owed", Books, "find_owed", "customer_id")),
)
_credit = _tell("excess", Customers, "find_credit_excess", "customer_id", "requested", "ordered")
OF_CUSTOMERS = (
    Listener(TERMS_ASKED, _tell("days", Customers, "find_terms", "customer_id")),
    Listener(CREDIT_ASKED, _credit, CREDIT_REFUSALS),
    Listener(CONTACTS_ASKED, _tell_contacts),
)
OF_SUPPLIERS = (Listener(TERMS_ASKED, _tell("days", Suppliers, "find_terms", "supplier_id")),)
ANSWERS = (*OF_BOOKS, *OF_CUSTOMERS, *OF_SUPPLIERS)
QUESTIONS = (OPEN_DAY_ASKED, OWED_ASKED, TERMS_ASKED, CREDIT_ASKED, CONTACTS_ASKED)
