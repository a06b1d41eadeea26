"""People do their jobs at the console, with real clicks; the clicks are counted. `docs/manual` shows the pictures.

TRADEWIND_PICTURES=docs/manual/images pytest tests/experiments/browser/test_jobs.py -s

That is in both languages; without pictures, people work in Chinese at the desk, and in English on the phone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from handlers.schema.messages import Language
from plugins.boot.runtime import Running
from plugins.commands.demo_company.business import do_business
from plugins.rbac.directory import people_of_the_demo
from plugins.testing import PASSWORD
from tests.browser.browser import Console, do
from tests.experiments.browser.jobs import jobs, office, orders
from tests.experiments.browser.jobs.jobs import Desk

pytestmark = pytest.mark.gen_test(timeout=480)
LANGUAGES: tuple[Language, Language] = ("zh", "en")
AT_THE_DESK = (
    jobs.lead_to_contract,
    jobs.contract_approved,
    jobs.month_of_attendance,
    jobs.leads_imported,
    jobs.article_published,
    jobs.figure_to_history,
    orders.purchase_to_stock,
    orders.sale_to_return,
    orders.payment_allocated,
    orders.quotation_printed,
    orders.order_revised,
    orders.e_invoice_entered,
    office.leave_approved,
    office.claim_approved,
    office.flow_by_amount,
    office.person_created,
    office.keys_alone,
    orders.sale_in_a_currency,  # after what a company with one currency does
)
ON_THE_PHONE = (
    jobs.lead_to_contract,
    jobs.contract_approved,
    jobs.month_of_attendance,
    office.leave_approved,
    office.claim_approved,
    orders.order_revised,
    orders.e_invoice_entered,
    orders.sale_in_a_currency,
)


@pytest.fixture(scope="module", autouse=True)
def year(io_loop: IOLoop, company: Running) -> None:
    """A year of business of the company, for people to work with."""

    async def enter() -> None:
        await do_business(company.service, await people_of_the_demo(company.service))

    io_loop.run_sync(enter)


FOLDER = os.environ.get("TRADEWIND_PICTURES")
WORKS: Sequence[tuple[Callable[[Desk], None], bool, Language]] = [
    (job, phone, language)
    for phone, jobs_there in ((False, AT_THE_DESK), (True, ON_THE_PHONE))
    for job in jobs_there
    for language in (LANGUAGES if FOLDER else LANGUAGES[phone:][:1])
]


@pytest.mark.parametrize(
    ("job", "phone", "language"),
    WORKS,
    ids=lambda given: getattr(given, "__name__", None) or {True: "phone", False: "desk"}.get(given, given),
)
async def test_a_job_is_done(
    console: Console, company: Running, job: Callable[[Desk], None], phone: bool, language: Language
) -> None:
    passwords = {name: company.service.demo_password(name) for name in ("manager", "sales", "staff")}
    desk = Desk(
        console, company.url, {**passwords, "admin": PASSWORD}, language, phone, Path(FOLDER) if FOLDER else None
    )
    await do(job, desk)
    print(f"| {job.__name__} | {'phone' if phone else 'desk'} | {language} | {desk.hand.clicks} | {desk.hand.fields} |")
