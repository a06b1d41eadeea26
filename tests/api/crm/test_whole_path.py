"""From the first lead to the last payment, as the people of a company do it."""

import pytest

from plugins.testing import People, expect
from tests.api.crm.sales import (
    CONTACTS,
    CONTRACTS,
    CUSTOMERS,
    EVERYTHING,
    LEADS,
    OPPORTUNITIES,
    PAYMENTS,
    PLANS,
    seller,
)

pytestmark = pytest.mark.gen_test(timeout=30)


async def test_sales_manager_and_finance_turn_a_lead_into_a_payment(people: People) -> None:
    department = await people.department()
    sales = await seller(people, "self", department)
    colleague = await seller(people, "self", department)
    manager = await seller(people, "department_and_below", department)
    finance = await people.person(
        [code for code in EVERYTHING if code.split(":")[1] in ("contract", "payment", "payment-plan")],
        "all",
    )

    lead = expect(await sales.post(LEADS, {"name": "刘洋", "company": "晨光科技", "source": "website"}))
    converted = expect(await sales.post(f"{LEADS}/{lead['id']}/convert", {"opportunity": {"amount": "1000.00"}}))
    customer, opportunity = converted["customer"], converted["opportunity"]
    expect(await sales.post(f"{OPPORTUNITIES}/{opportunity['id']}/advance", {"stage": "negotiation"}))
    expect(await sales.post(f"{OPPORTUNITIES}/{opportunity['id']}/win", {}))
    body = {"customer_id": customer["id"], "opportunity_id": opportunity["id"], "name": "合同", "amount": "1000.00"}
    contract = expect(await sales.post(CONTRACTS, body))
    expect(await sales.post(f"{CONTRACTS}/{contract['id']}/submit", {}))
    expect(await manager.post(f"{CONTRACTS}/{contract['id']}/approve", {}))
    plan = expect(
        await finance.post(PLANS, {"contract_id": contract["id"], "amount": "400.00", "due_date": "2030-01-31"})
    )
    paid = {"contract_id": contract["id"], "plan_id": plan["id"], "amount": "400.00", "method": "transfer"}
    payment = expect(await finance.post(PAYMENTS, paid))

    assert expect(await sales.get(f"{CONTRACTS}/{contract['id']}"))["received_amount"] == "400.00"
    assert expect(await sales.get(f"{PLANS}/{plan['id']}"))["status"] == "paid"
    assert expect(await sales.get(f"{PAYMENTS}/{payment['id']}"))["owner_id"] == sales.user["userId"]

    made = {
        LEADS: lead,
        CUSTOMERS: customer,
        CONTACTS: converted["contact"],
        OPPORTUNITIES: opportunity,
        CONTRACTS: contract,
        PLANS: plan,
        PAYMENTS: payment,
    }
    sight = {
        name: {path for path, record in made.items() if (await one.get(f"{path}/{record['id']}")).code == 0}
        for name, one in {"sales": sales, "manager": manager, "finance": finance, "colleague": colleague}.items()
    }
    # plans and payments of finance have the owner of their contract: they are in the figures of the manager
    assert sight == {
        "sales": set(made),
        "manager": set(made),
        "finance": {CONTRACTS, PLANS, PAYMENTS},
        "colleague": set(),
    }
    assert expect(await manager.get(f"{CONTRACTS}/{contract['id']}"))["received_amount"] == "400.00"
    for one, total in ((sales, 1), (manager, 1), (colleague, 0)):
        assert expect(await one.get(CONTRACTS))["total"] == total
    expect(await finance.get(f"{CUSTOMERS}/{customer['id']}"), 40300)
    expect(await colleague.get(f"{CUSTOMERS}/{customer['id']}"), 40400)
