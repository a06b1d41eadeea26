"""The month, from the first day to the last."""

from __future__ import annotations

from tests.support.company_month import buying, changes, delivering, office_work, selling
from tests.support.company_month.company import Company
from tests.support.company_month.denials import knock, try_all


async def live(company: Company) -> None:
    """Everything that the people do, in order."""
    await selling.sell(company)
    await buying.buy(company)
    await delivering.order(company)
    await office_work.claim(company)
    await office_work.book(company)
    await office_work.rest(company)
    await office_work.hire(company)
    await try_all(company)
    await changes.leave(company)
    await changes.move(company)
    await changes.promote(company)
    await knock(company)
    await delivering.deliver_for_heir(company)
    await buying.count(company)
    await buying.pay_suppliers(company)
    await office_work.attend(company)
