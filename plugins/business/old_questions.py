"""Questions that plugins of version 1 may still ask by events: `found` gets what a port of `ports.py` answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from handlers.events import Event
from handlers.parts import Port
from handlers.schema.values import Payload
from handlers.service import Service
from plugins.business.ports import CREDIT_REFUSALS, Books, Customers, Suppliers
from plugins.plugin import Listener

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
