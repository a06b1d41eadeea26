"""Every 403 and 404 that the month may have: who asks for what, and why they do not get it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plugins.testing import PASSWORD
from tests.support.company_month.company import Company
from tests.support.company_month.recorder import Exchange

CRM, INVENTORY, FINANCE = "/api/v1/crm", "/api/v1/inventory", "/api/v1/finance"


@dataclass(frozen=True)
class Denial:
    """A request that is to be denied. `{name}` in the path is the id of a record by its name in the script."""

    who: str
    what: str
    status: int
    why: str
    body: Any = None


DENIALS = (
    Denial(
        "zhao", f"GET {CRM}/contracts/{{contract 宏图建材}}", 404, "a colleague's contract, of the other department"
    ),
    Denial("zhao", f"GET {CRM}/contracts/{{contract 晨光科技}}", 404, "a colleague's contract, of the same department"),
    Denial("zhou", f"GET {CRM}/contracts/{{contract 晨光科技}}", 404, "a contract of another manager's department"),
    Denial("wang", f"GET {CRM}/customers/{{宏图建材}}", 404, "a customer of another manager's department"),
    Denial("zhang", f"GET {CRM}/contracts/{{contract 远航物流}}", 404, "a small contract: legal counsel is not asked"),
    Denial("zhang", f"GET {CRM}/customers/{{晨光科技}}", 403, "legal counsel reads contracts, not customers"),
    Denial(
        "zhang",
        f"PATCH {CRM}/contracts/{{contract 晨光科技}}",
        403,
        "who is asked reads, and writes nothing",
        {"version": 1, "remark": "…"},
    ),
    Denial(
        "li",
        f"POST {CRM}/payments",
        403,
        "sellers do not enter payments",
        {"contract_id": "0" * 24, "amount": "1.00"},
    ),
    Denial("kong", f"GET {CRM}/opportunities", 403, "reception takes calls, and sells nothing"),
    Denial("cao", f"GET {CRM}/customers", 403, "line staff have no customers"),
    Denial("cao", f"GET {FINANCE}/vouchers", 403, "line staff keep no books"),
    Denial("cao", "GET /api/v1/hrm/employees", 403, "line staff read no files of colleagues"),
    Denial("yang", f"POST {INVENTORY}/purchase-orders/{{purchase 华东金属}}/confirm", 403, "no order confirms itself"),
    Denial("luo", f"POST {FINANCE}/vouchers", 403, "the cashier pays what is approved, and books nothing else", {}),
    Denial("shi", "GET /api/v1/system/users", 403, "HR keeps files of employees, not accounts"),
    Denial("wang", "GET /api/v1/system/operation-logs", 403, "the operation log is the administrator's"),
    Denial("han", f"GET {CRM}/contracts", 403, "operations buy and store"),
)
LEFT = Exchange("sun", "POST", "/api/v1/auth/login", 403)  # who has left does not get in


async def try_all(company: Company) -> None:
    """Ask for everything that is to be denied."""
    for one in DENIALS:
        exchange = asked(company, one)
        await company[one.who].call(exchange.method, exchange.path, one.body)


def asked(company: Company, denial: Denial) -> Exchange:
    """The request of a denial, with the ids of its records."""
    method, path = denial.what.split(" ", 1)
    return Exchange(denial.who, method, path.format_map(company.ids), denial.status)


async def knock(company: Company) -> None:
    """Whoever has left tries to log in."""
    reply = await company["sun"].call("POST", LEFT.path, {"username": "sun", "password": PASSWORD})
    assert reply.code == 40303
