"""Changes among the people: one leaves, one moves to another department, one is promoted."""

from __future__ import annotations

from typing import Any

from tests.support.company_month.company import Company

USERS, EMPLOYEES = "/api/v1/system/users", "/api/v1/hrm/employees"


async def leave(company: Company) -> None:
    """sun leaves. The owner hands everything to zhao, then disables the account; HR notes the last day."""
    chen, gone, heir = company["chen"], company["sun"], company["zhao"]
    at = f"{USERS}/{gone.id}"
    held = _counts(await chen.get(f"{at}/holdings"))
    assert held == {"crm_customers": 1, "crm_leads": 1, "crm_contracts": 1, "inventory_sales_orders": 1}
    rehearsed = await chen.post(f"{at}/handover", {"to": heir.id, "dry_run": True})
    assert _counts(rehearsed) == held
    done = await chen.post(f"{at}/handover", {"to": heir.id})
    assert (done["status"], done["failures"]) == ("finished", []), done
    assert _counts(await chen.get(f"{at}/holdings")) == {}
    await chen.patch(at, status="disabled")
    await company["shi"].patch(f"{EMPLOYEES}/{company.ids['employee sun']}", left_on=company.dates.day(1))
    company.ledger.employees["sun"].values["left"] = company.dates.day(1)
    _give(company, "sun", "zhao")


def _counts(handover: dict[str, Any]) -> dict[str, int]:
    return {one["collection"]: one["count"] for one in handover["items"] if one["count"]}


def _give(company: Company, gone: str, heir: str) -> None:
    """Customers, with all that hangs below them, and open leads have the heir; a converted lead keeps its name."""
    for fact in company.ledger.facts:
        if fact.owner == gone and not fact.values.get("converted"):
            fact.owner = heir


async def move(company: Company) -> None:
    """feng moves from the south to the north: the account by the owner, the employee by HR."""
    north = company.departments["北区销售部"]
    await company["chen"].patch(f"{USERS}/{company['feng'].id}", department_id=north)
    await company["shi"].patch(f"{EMPLOYEES}/{company.ids['employee feng']}", department_id=north)
    company.ledger.members["feng"].department = "北区销售部"
    company.ledger.employees["feng"].before = company.ledger.employees["feng"].department
    company.ledger.employees["feng"].department = "北区销售部"


async def promote(company: Company) -> None:
    """li becomes a manager beside wang."""
    roles = [company.roles[role] for role in ("everybody", "sales manager")]
    await company["chen"].patch(f"{USERS}/{company['li'].id}", role_ids=roles)
    company.ledger.members["li"].roles = ("everybody", "sales manager")
