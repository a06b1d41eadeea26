"""What everybody does besides: claims, vouchers, leave and attendance."""

from __future__ import annotations

from decimal import Decimal

from tests.support.company_month.company import Company
from tests.support.company_month.founding import OFFICE

FINANCE, HRM = "/api/v1/finance", "/api/v1/hrm"
CLAIMS, LEAVES = f"{FINANCE}/expense-claims", f"{HRM}/leaves"
# who claims, why, how much, who decides first, and whether accounting agrees
_CLAIMS = (
    ("li", "上海出差", "travel", "860.50", "wang", True),
    ("kong", "办公用品", "office", "120.00", "shi", False),
    ("wang", "客户拜访", "travel", "432.10", "chen", True),
)


async def claim(company: Company) -> None:
    """People claim expenses; superiors and accounting decide, the cashier pays."""
    for who, title, category, amount, superior, agreed in _CLAIMS:
        line = {"day": company.dates.day(9), "category": category, "amount": amount}
        made = await company[who].post(CLAIMS, {"title": title, "lines": [line]})
        await company[who].post(f"{CLAIMS}/{made['id']}/submit")
        await company.decide(superior, made, CLAIMS)
        await company.decide("xu", made, CLAIMS, "agree" if agreed else "reject")
        if agreed:
            luo = company["luo"]
            body = {"account_id": await luo.pick("finance_accounts", "库存现金"), "day": company.dates.day(7)}
            await luo.post(f"{CLAIMS}/{made['id']}/pay", body)
            company.ledger.note("voucher", "luo", sign="expense", amount=Decimal(amount), day=company.dates.day(7))
        shown = await company[who].get(f"{CLAIMS}/{made['id']}")
        assert shown["status"] == ("paid" if agreed else "rejected")


async def book(company: Company) -> None:
    """The accountant books rent, income from services, and a voucher by mistake, which is reversed."""
    xu = company["xu"]
    account = await xu.pick("finance_accounts", "基本户")
    for sign, category, amount, ago in (
        ("expense", "rent", "9000.00", 20),
        ("income", "service", "3200.40", 8),
        ("expense", "office", "77.00", 6),
    ):
        day = company.dates.day(ago)
        body = {"kind": sign, "category": category, "account_id": account, "amount": amount, "day": day}
        made = await xu.post(f"{FINANCE}/vouchers", body)
        company.ledger.note("voucher", "xu", sign=sign, amount=Decimal(amount), day=day)
    await xu.post(f"{FINANCE}/vouchers/{made['id']}/reverse", {"day": company.dates.day(5)})
    company.ledger.note("voucher", "xu", sign="expense", amount=Decimal("-77.00"), day=company.dates.day(5))


async def rest(company: Company) -> None:
    """A seller's leave is approved by the manager, the manager's by the owner; one request waits."""
    for who, superior in (("zhao", "wang"), ("wang", "chen"), ("cao", None)):
        times = {
            "starts_at": company.dates.moment(-3, "09:00"),
            "ends_at": company.dates.moment(-4, "18:00"),
        }
        made = await company[who].post(LEAVES, {"type": "personal", "reason": "家事", **times})
        await company[who].post(f"{LEAVES}/{made['id']}/submit")
        if superior is None:
            company.ledger.note("approval", who, others=("shi",))
            continue
        await company.decide(superior, made, LEAVES)
        assert (await company[who].get(f"{LEAVES}/{made['id']}"))["status"] == "approved"


async def hire(company: Company) -> None:
    """HR enters the newcomer."""
    shi, day = company["shi"], company.dates.day(10)
    body = {
        "name": "曹行",
        "user_id": await shi.pick("users", "曹行"),
        "department_id": await shi.pick("departments", "行政部"),
        "position_id": await shi.pick("hrm_positions", "行政专员"),
        "hired_on": day,
    }
    company.ids["employee cao"] = (await shi.post(f"{HRM}/employees", body))["id"]
    employee = company.ledger.note("employee", "cao", hired=day, left=None)
    company.ledger.employees["cao"] = employee


async def attend(company: Company) -> None:
    """HR enters what the clock at the door says; those who have a telephone punch themselves, at noon of today."""
    for who, ago, came, went in (
        ("kong", 5, "08:55", "18:05"),
        ("kong", 4, "09:30", "18:01"),
        ("kong", 2, "08:50", None),
        ("zhang", 2, "09:04", "18:30"),
    ):
        for clock in filter(None, (came, went)):
            body = {"employee_id": company.ids[f"employee {who}"], "at": company.dates.moment(ago, clock)}
            await company["shi"].post(f"{HRM}/punches/enter", {**body, "reason": "门禁记录"})
        company.ledger.note("day", who, day=company.dates.day(ago), late=came > "09:05", missed=went is None)
    sick = {"starts_at": company.dates.moment(3, "09:00"), "ends_at": company.dates.moment(3, "18:00")}
    await company["shi"].post(
        f"{HRM}/leaves/enter", {"employee_id": company.ids["employee kong"], "type": "sick", **sick}
    )
    for who in ("li", "zhao", "wu", "zheng", "feng", "kong"):
        punched = await company[who].post(f"{HRM}/punches", {"location": OFFICE, "accuracy": 10})
        late = who == "kong"
        assert (punched["counts"], punched["day_status"]) == (True, "late" if late else "normal"), punched
        company.ledger.note("day", who, day=company.dates.day(0), late=late, missed=False)
