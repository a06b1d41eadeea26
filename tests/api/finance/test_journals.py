"""The balances of accounts over a period, and their journals, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect, unique

pytestmark = pytest.mark.gen_test(timeout=60)
AT = "/api/v1/finance"
NAMES = ("money_in", "money_out", "balance")


async def account(client: Client, **fields: Any) -> str:
    body = {"code": unique("account"), "name": unique("account"), "type": "bank", **fields}
    return str(expect(await client.post(f"{AT}/accounts", body))["id"])


async def moved(client: Client) -> tuple[str, str]:
    """Two accounts: the first gets 100 and 7 and gives 30 to the other one, which pays 12 and has the 12 back."""
    bank, cash = await account(client), await account(client, type="cash")
    given: list[dict[str, Any]] = [
        {"kind": "income", "account_id": bank, "amount": "100.00", "day": "2026-03-30", "counterparty": "First"},
        {"kind": "transfer", "account_id": bank, "to_account_id": cash, "amount": "30.00", "day": "2026-04-02"},
        {"kind": "expense", "account_id": cash, "amount": "12.00", "day": "2026-04-03"},
        {"kind": "income", "account_id": bank, "amount": "7.00", "day": "2026-04-01"},
    ]
    made = [expect(await client.post(f"{AT}/vouchers", one)) for one in given]
    expect(await client.post(f"{AT}/vouchers/{made[2]['id']}/reverse", {"day": "2026-04-04"}))
    return bank, cash


async def lines(client: Client, account_id: str, query: str = "&from=2026-04-01&to=2026-04-30") -> Any:
    return expect(await client.get(f"{AT}/journals/lines?account_id={account_id}{query}"))


async def test_a_journal_has_transfers_both_ways_by_day_with_the_balance_after_each(admin: Client) -> None:
    bank, cash = await moved(admin)
    found = [(await lines(admin, one))["items"] for one in (bank, cash)]
    assert [[tuple(row[name] for name in NAMES) for row in rows] for rows in found] == [
        [("7.00", "0.00", "107.00"), ("0.00", "30.00", "77.00")],
        [("30.00", "0.00", "30.00"), ("0.00", "12.00", "18.00"), ("12.00", "0.00", "30.00")],
    ]
    assert [rows[1 - at]["other_account_id"] for at, rows in enumerate(found)] == [cash, bank]
    for id, rows in zip((bank, cash), found, strict=True):
        assert expect(await admin.get(f"{AT}/accounts/{id}"))["balance"] == rows[-1]["balance"]


async def test_the_second_page_of_a_journal_goes_on_from_the_balance_of_the_first(admin: Client) -> None:
    _, cash = await moved(admin)
    first = await lines(admin, cash, "&from=2026-04-01&page_size=2")
    second = await lines(admin, cash, f"&from=2026-04-01&page_size=2&cursor={first['next_cursor']}")
    assert [row["balance"] for row in (*first["items"], *second["items"])] == ["30.00", "18.00", "30.00"]
    assert second["next_cursor"] is None


async def test_without_an_account_the_journal_is_that_of_the_first_one_by_its_code(admin: Client) -> None:
    first = await account(admin, code=unique("!first"))
    booked = {"kind": "income", "account_id": first, "amount": "5.00", "day": "2026-04-01"}
    expect(await admin.post(f"{AT}/vouchers", booked))
    rows = expect(await admin.get(f"{AT}/journals/lines?from=2026-04-01"))["items"]
    assert [(row["account_id"], row["balance"]) for row in rows] == [(first, "5.00")]


async def test_the_balances_of_a_period_add_up_and_one_day_shows_the_balance_on_it(admin: Client) -> None:
    bank, _ = await moved(admin)

    async def of(query: str) -> tuple[str, ...]:
        rows = expect(await admin.get(f"{AT}/journals?page_size=200{query}"))["items"]
        (row,) = (one for one in rows if one["account_id"] == bank)
        return tuple(row[name] for name in ("opening_balance", "money_in", "money_out", "closing_balance"))

    assert await of("&from=2026-04-01&to=2026-04-30") == ("100.00", "7.00", "30.00", "77.00")
    assert await of("&from=2026-04-01&to=2026-04-01") == ("100.00", "7.00", "0.00", "107.00")
    expect(await admin.get(f"{AT}/journals?from=2026-04-02&to=2026-04-01"), 40001)


async def test_a_journal_is_exported_as_a_table(admin: Client) -> None:
    bank, _ = await moved(admin)
    table = await admin.get(f"{AT}/journals/lines/export?format=csv&account_id={bank}&from=2026-03-01&to=2026-04-30")
    assert table.status == 200
    assert [line.split(",")[-1] for line in table.body.decode("utf-8-sig").split()[1:]] == ["100.00", "107.00", "77.00"]
