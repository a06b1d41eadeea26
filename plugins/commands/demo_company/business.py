"""A year of business of the demonstration company, entered through the routes of the API at moments in the past."""

from __future__ import annotations

from collections.abc import Mapping

from handlers.access.actor import Actor
from handlers.service import Service
from plugins.commands.demo_company import office, staff, trade
from plugins.commands.demo_company.year import Year

_STEPS = (
    staff.organise,
    staff.employ,
    trade.list_what_is_traded,
    trade.meet_customers,
    trade.buy,
    trade.sell,
    office.deal,
    office.spend,
    office.wait_for_decisions,
    office.publish,
    staff.attend,
)


async def do_business(service: Service, people: Mapping[str, Actor]) -> None:
    """Enter everything, the organisation first; `people` are those of the demo by user name."""
    year = Year(service, people)
    for step in _STEPS:
        await step(year)
