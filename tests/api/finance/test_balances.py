"""A statement run: the balances of many parties, and the lines of all of their statements, also as tables."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from plugins.testing import Client, expect
from tests.api.finance.accounts_of_parties import billed, new_customer, paid, statement
from tests.api.finance.books import AT, Books

pytestmark = pytest.mark.gen_test(timeout=60)
PERIOD = "from=2020-02-01&to=2020-02-29"
SUMS = ("opening_balance", "debit", "credit", "closing_balance")


async def test_balances_and_lines_of_many_parties_are_those_of_their_statements(admin: Client) -> None:
    parties, books = [await new_customer(admin) for _ in range(3)], await Books.fresh(admin)
    for place, party in enumerate(parties):
        invoice = await billed(admin, party, f"{place + 1}00.00", "2020-01-10", "2020-02-10")
        await paid(books, invoice, "30.00", "2020-02-15")
        await billed(admin, party, "50.00", "2020-02-20", None)
    await billed(admin, parties[0], "1.00", "2020-03-01", None)
    asked = f"{PERIOD}&" + "&".join(f"parties={party['customer_id']}" for party in parties)
    rows = expect(await admin.get(f"{AT}/balances?{asked}&sum=closing_balance&page_size=2"))
    assert (rows["total"], rows["sums"]["closing_balance"]) == (3, "660.00")
    rest = expect(await admin.get(f"{AT}/balances?{asked}&page_size=2&cursor={rows['next_cursor']}"))
    shown = {row["customer_id"]: row for row in rows["items"] + rest["items"]}
    lines, cursor = [], ""
    while True:
        page = expect(await admin.get(f"{AT}/balances/lines?{asked}&page_size=2{cursor}"))
        lines += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    second = expect(await admin.get(f"{AT}/balances/lines?{asked}&page_size=2&page=2"))
    assert (second["items"], second["total"]) == (lines[2:4], 6)
    for party in parties:
        stated = await statement(admin, party, **{"from": "2020-02-01", "to": "2020-02-29"})
        assert [shown[party["customer_id"]][name] for name in SUMS] == [stated[name] for name in SUMS]
        own = [line for line in lines if line["customer_id"] == party["customer_id"]]
        names = ("day", "kind", "number", "debit", "credit", "balance")
        assert [[one[name] for name in names] for one in own] == [
            [one[name] for name in names] for one in stated["items"]
        ]
    for at, count in (("balances", 3), ("balances/lines", 6)):
        table = (await admin.get(f"{AT}/{at}/export?{asked}&format=csv")).body.decode("utf-8-sig")
        assert len([*csv.DictReader(StringIO(table))]) == count


async def test_the_ageing_of_all_parties_is_a_table(admin: Client) -> None:
    party = await new_customer(admin)
    await billed(admin, party, "80.00", "2020-01-01", "2020-01-15")
    asked = f"kind=receivable&day=2020-02-29&customer_id={party['customer_id']}"
    table = (await admin.get(f"{AT}/ageing/export?{asked}&format=csv")).body.decode("utf-8-sig")
    (row,) = csv.DictReader(StringIO(table))
    assert (row["days_31_60"], row["total"]) == ("80.00", "80.00")
    workbook = await admin.get(f"{AT}/ageing/export?kind=payable&format=xlsx&headers=labels")
    assert workbook.body.startswith(b"PK")
