"""Currencies over HTTP: documents keep theirs and their rate, and figures are in the company's own."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect
from tests.api.finance.books import AT

pytestmark = pytest.mark.gen_test(timeout=60)
RATES = f"{AT}/exchange-rates"
DAY = "2026-11-02"


async def test_what_is_no_rate_of_a_currency_is_refused_by_its_field(admin: Client) -> None:
    good = {"currency": "SEK", "day": DAY, "rate": "0.75123456"}
    made = expect(await admin.post(RATES, good))
    assert made["rate"] == "0.75123456"
    expect(await admin.post(RATES, good), 40900)
    bad: list[dict[str, Any]] = [{"rate": rate} for rate in ("0", "-1", "1e30", "1000000", "0.123456789", None, "NaN")]
    bad += [{"currency": code} for code in ("XXX", "sek", "", ["SEK"], None)] + [{"day": "2999-01-01"}]
    for one in bad:
        refused = await admin.post(RATES, good | one)
        expect(refused, 40001)
        assert refused.fields == set(one)
    expect(await admin.delete(f"{RATES}/{made['id']}"))
