"""Tax numbers and addresses of customers and suppliers over HTTP, as invoices copy them."""

from __future__ import annotations

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.sales import CUSTOMERS, customer
from tests.api.finance.books import AT
from tests.api.inventory.goods import AT as INVENTORY

pytestmark = pytest.mark.gen_test(timeout=60)
ADDRESSES = [
    {"name": "warehouse", "address": "Pier 4", "contact": "Li", "phone": "021-1", "delivery": True},
    {"name": "office", "address": "Century Avenue 100", "billing": True},
    {"name": "branch", "address": "West Street 7"},
]
COPIED = ("vat_number", "billing_address", "delivery_address")


async def test_an_invoice_keeps_the_tax_number_and_addresses_of_its_day(admin: Client) -> None:
    made = await customer(admin, vat_number="91310000MA1K3", addresses=ADDRESSES)
    body = {"direction": "out", "customer_id": made["id"], "amount": "1.00"}
    draft = expect(await admin.post(f"{AT}/invoices", body))
    assert [draft[name] for name in COPIED] == ["91310000MA1K3", "Century Avenue 100", "Pier 4 (Li 021-1)"]
    for change in ({"billing_address": "typed"}, {"delivery_address_name": "branch"}):
        draft = expect(await admin.patch(f"{AT}/invoices/{draft['id']}", {**change, "version": draft["version"]}))
    moved = {"addresses": [], "vat_number": None, "version": made["version"]}
    expect(await admin.patch(f"{CUSTOMERS}/{made['id']}", moved))
    kept = expect(await admin.post(f"{AT}/invoices/{draft['id']}/confirm"))
    assert [kept[name] for name in COPIED] == ["91310000MA1K3", "typed", "West Street 7"]
    unknown = expect(await admin.post(f"{AT}/invoices", {**body, "billing_address_name": "office"}), 40001)
    assert [one["field"] for one in unknown["errors"]] == ["billing_address_name"]


async def test_an_invoice_of_a_supplier_copies_what_is_known_of_it_and_takes_what_is_typed(admin: Client) -> None:
    code = unique("SUP")
    supplier = expect(
        await admin.post(f"{INVENTORY}/suppliers", {"code": code, "name": code, "addresses": ADDRESSES[2:]})
    )
    body = {"direction": "in", "number": code, "supplier_id": supplier["id"], "amount": "1.00", "vat_number": "DE1"}
    draft = expect(await admin.post(f"{AT}/invoices", body))
    assert [draft[name] for name in COPIED] == ["DE1", "West Street 7", "West Street 7"]
