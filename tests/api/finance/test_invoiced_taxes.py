"""What was invoiced and its tax, by month and rate, and the documents behind it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.finance.books import AT
from tests.api.finance.test_billed_items import confirm
from tests.api.finance.test_credit_notes import credit

pytestmark = pytest.mark.gen_test(timeout=60)
MONTH = "from=2019-03-01&to=2019-03-31"  # in which no other test invoices anything


async def invoiced(client: Client, day: str, *rates: str, **further: Any) -> dict[str, Any]:
    """A confirmed invoice of a day, with a line of 100.00 for each rate."""
    lines = [{"description": rate, "quantity": "1", "price": "100.00", "tax_rate": rate} for rate in rates]
    body = {
        "direction": "out",
        "counterparty": unique("c"),
        "day": day,
        **({"lines": lines} if lines else {}),
        **further,
    }
    made: dict[str, Any] = expect(await confirm(client, expect(await client.post(f"{AT}/invoices", body))))
    return made


async def test_tax_is_summed_by_rate_in_the_month_of_the_invoice_and_every_figure_opens_into_documents(
    admin: Client,
) -> None:
    first = await invoiced(admin, "2019-03-05", "0.13", "0.13", "0.06")
    await invoiced(admin, "2019-03-31", "0.13")
    await invoiced(admin, "2019-04-01", "0.13")
    typed = await invoiced(admin, "2019-03-07", amount="50.00", tax="5.00")
    expect(await credit(admin, first, lines=[{"line": 2}], day="2019-03-20"))
    items = expect(await admin.get(f"{AT}/taxes?{MONTH}"))["items"]
    assert [[row[name] for name in ("month", "direction", "tax_rate", "net", "tax", "amount")] for row in items] == [
        ["2019-03", "out", None, "50.00", "5.00", "55.00"],
        ["2019-03", "out", "0.06", "100.00", "6.00", "106.00"],
        ["2019-03", "out", "0.13", "200.00", "26.00", "226.00"],
    ]
    at = f"{AT}/taxes/documents?{MONTH}"
    behind = expect(await admin.get(f"{at}&tax_rate=0.13"))
    assert [(row["kind"], row["day"], row["tax"]) for row in behind["items"]] == [
        ("invoice", "2019-03-05", "26.00"),
        ("invoice", "2019-03-31", "13.00"),
        ("credit_note", "2019-03-20", "-13.00"),
    ]
    pages = [expect(await admin.get(f"{at}&page_size=2&page={page}")) for page in (1, 2, 3)]
    rows = [row for page in pages for row in page["items"]]
    assert (len(rows), {page["total"] for page in pages}) == (5, {5})
    assert sum(Decimal(row["tax"]) for row in rows) == Decimal("37.00")
    # its tax would be taken off twice
    expect(await admin.post(f"{AT}/invoices/{first['id']}/void"), 40901)
    table = (await admin.get(f"{at}&format=csv&direction=out")).body.decode("utf-8-sig").splitlines()
    assert len(table) == 1 + 5
    assert any(typed["counterparty"] in line and "5.00" in line for line in table)
