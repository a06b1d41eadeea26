"""The menus of a person open in a browser: nothing is refused, nothing fails, and people understand what it says."""

from __future__ import annotations

import pytest

from plugins.boot.runtime import Running
from tests.browser.browser import Console
from tests.browser.menus import codes_in, walk
from tests.browser.working_day import person_of

pytestmark = pytest.mark.gen_test(timeout=180)


async def test_every_menu_of_a_seller_opens_in_chinese(console: Console, company: Running) -> None:
    codes, english = await walk(console, company.url, await person_of(company, "sales"), "zh")
    assert len(codes) > 10
    assert english == []


def test_codes_of_states_audits_events_and_papers_are_told_from_words() -> None:
    shown = ["Contract: Submit", "crm_contracts.submit", "finance-accounts, 12.50", "sales-order", "in_force", "P-1001"]
    assert codes_in(shown) == ["crm_contracts.submit", "finance-accounts", "in_force", "sales-order"]
