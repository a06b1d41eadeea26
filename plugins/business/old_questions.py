"""Questions that plugins of version 1 may still ask by events, whose `found` gets the answer of a port of `ports.py`."""

from __future__ import annotations

from collections.abc import Iterable

from handlers.events import Event
from handlers.schema.values import Payload
from handlers.service import Service
from plugins.business.ports import CREDIT_REFUSALS, Books, Customers, Suppliers
from plugins.plugin import Listener

OPEN_DAY_ASKED = Event("finance.open_day.asked", day=str, found=dict)
"""`day` in `found` is the answer of `Books.find_open_day`."""

OWED_ASKED = Event("finance.owed.asked", customer_id=object, found=dict)
"""`owed` in `found` is the answer of `Books.find_owed`."""

TERMS_ASKED = Event("finance.terms.asked", customer_id=object, supplier_id=object, found=dict)
"""`days` in `found` is the answer of `find_terms` of `Customers` or `Suppliers`."""

CREDIT_ASKED = Event("finance.credit.asked", customer_id=object, requested=object, ordered=object, found=dict)
"""`excess` in `found`, if any, is the answer of `Customers.find_credit_excess`."""

CONTACTS_ASKED = Event("finance.contacts.asked", customer_ids=Iterable, found=dict)
"""`found` has the answer of `Customers.find_contacts`, each contact as a dictionary."""


async def _tell_open_day(service: Service, payload: Payload) -> None:
    payload["found"]["day"] = await service.part(Books).find_open_day(payload["day"])


async def _tell_owed(service: Service, payload: Payload) -> None:
    payload["found"]["owed"] = await service.part(Books).find_owed(payload["customer_id"])


async def _tell_terms_of_customer(service: Service, payload: Payload) -> None:
    if payload.get("customer_id") is not None:
        payload["found"]["days"] = await service.part(Customers).find_terms(payload["customer_id"])


async def _tell_terms_of_supplier(service: Service, payload: Payload) -> None:
    if payload.get("supplier_id") is not None:
        payload["found"]["days"] = await service.part(Suppliers).find_terms(payload["supplier_id"])


async def _tell_credit(service: Service, payload: Payload) -> None:
    amounts = {name: payload[name] for name in ("requested", "ordered")}
    excess = await service.part(Customers).find_credit_excess(payload["customer_id"], **amounts)
    if excess is not None:
        payload["found"]["excess"] = excess


async def _tell_contacts(service: Service, payload: Payload) -> None:
    found = await service.part(Customers).find_contacts(payload["request"], list(payload["customer_ids"]))
    payload["found"].update({id: vars(contact) for id, contact in found.items()})


OF_BOOKS = (Listener(OPEN_DAY_ASKED, _tell_open_day), Listener(OWED_ASKED, _tell_owed))
OF_CUSTOMERS = (
    Listener(TERMS_ASKED, _tell_terms_of_customer),
    Listener(CREDIT_ASKED, _tell_credit, CREDIT_REFUSALS),
    Listener(CONTACTS_ASKED, _tell_contacts),
)
OF_SUPPLIERS = (Listener(TERMS_ASKED, _tell_terms_of_supplier),)
ANSWERS = (*OF_BOOKS, *OF_CUSTOMERS, *OF_SUPPLIERS)
QUESTIONS = (OPEN_DAY_ASKED, OWED_ASKED, TERMS_ASKED, CREDIT_ASKED, CONTACTS_ASKED)
