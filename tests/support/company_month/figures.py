"""The thirteen dashboards as the script's ledger has them, each in somebody's data scope."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.support.company_month.company import Company
from tests.support.company_month.dates import LENGTH
from tests.support.company_month.ledger import Fact
from tests.support.company_month.staff import STAFF

STAGES = ("initial", "qualified", "proposal", "negotiation", "won", "lost")
Figures = Any


@dataclass(frozen=True)
class Chart:
    """A dashboard: its query, what it shows by the ledger, and which part of a response is compared."""

    query: Callable[[Company], str]
    expected: Callable[[Company, str], Figures]
    shown: Callable[[Any], Figures] = lambda data: data


def money(facts: Iterable[Fact]) -> str:
    """The sum of their amounts."""
    return f"{sum((fact['amount'] for fact in facts), Decimal(0)):.2f}"


def _number(quantity: Decimal) -> str:
    return f"{quantity.normalize():f}"


def _overview(company: Company, who: str) -> Figures:
    seen = company.ledger.seen
    return {
        "customers": len(seen(who, "customer")),
        "opportunities": len(seen(who, "opportunity")),
        "contract_amount": money(seen(who, "contract")),
        "received_amount": money(seen(who, "payment")),
        "pending_approvals": len(seen(who, "approval")),
    }


def _by(facts: Iterable[Fact], key: Callable[[Fact], Any]) -> Mapping[Any, list[Fact]]:
    groups = defaultdict(list)
    for fact in facts:
        groups[key(fact)].append(fact)
    return groups


def _sales_trend(company: Company, who: str) -> Figures:
    days = _by(company.ledger.seen(who, "payment"), lambda fact: fact["day"])
    return [{"date": day, "amount": money(days[day]), "count": len(days[day])} for day in company.dates.days]


def _customers(company: Company, who: str) -> Figures:
    seen = company.ledger.seen(who, "customer")
    return {f"by_{field}": Counter(fact[field] for fact in seen) for field in ("industry", "level")}


def _slices(items: Sequence[Mapping[str, Any]]) -> Figures:
    """Stored value → count."""
    return {item["code"]: item["value"] for item in items}


def _funnel(company: Company, who: str) -> Figures:
    stages = _by(company.ledger.seen(who, "opportunity"), lambda fact: fact["stage"])
    return [(stage, len(stages[stage]), money(stages[stage])) for stage in STAGES]


def _finance(company: Company, who: str) -> Figures:
    flows = [("income", fact) for fact in company.ledger.seen(who, "payment")]
    flows += [(fact["sign"], fact) for fact in company.ledger.seen(who, "voucher")]
    first, last = company.dates.days[0][:7], company.dates.days[-1][:7]
    months = [month for month in company.dates.months(3) if first <= month <= last]
    items = [{"month": month, **_result([one for one in flows if one[1]["day"][:7] == month])} for month in months]
    return {**_result(flows), "items": items}


def _result(flows: Sequence[tuple[str, Fact]]) -> dict[str, str]:
    income, expense = (money(fact for sign, fact in flows if sign == one) for one in ("income", "expense"))
    return {"income": income, "expense": expense, "profit": f"{Decimal(income) - Decimal(expense):.2f}"}


def _contract_trend(company: Company, who: str) -> Figures:
    months = _by(company.ledger.seen(who, "contract"), lambda fact: fact["signed"][:7])
    return [
        {"month": month, "count": len(months[month]), "amount": money(months[month])}
        for month in company.dates.months(12)
    ]


def _ranking(kind: str) -> Callable[[Company, str], Figures]:
    def ranked(company: Company, who: str) -> Figures:
        people = _by(company.ledger.seen(who, kind), lambda fact: fact.seller)
        order = sorted(people, key=lambda one: (-Decimal(money(people[one])), company[one].id))
        return [
            {
                "rank": rank,
                "user_id": company[one].id,
                "name": STAFF[one].name,
                "user_name": STAFF[one].name,
                "amount": money(people[one]),
                "count": len(people[one]),
            }
            for rank, one in enumerate(order, 1)
        ]

    return ranked


def _lead_sources(company: Company, who: str) -> Figures:
    return Counter(fact["source"] for fact in company.ledger.seen(who, "lead"))


def _employees(company: Company, who: str) -> Figures:
    today = company.dates.day(0)
    employed = [one for one in company.ledger.seen(who, "employee") if not one["left"] or one["left"] >= today]
    counted = Counter(fact.department for fact in employed)
    return {(company.departments[name], name): count for name, count in counted.items()}


def _headcount(company: Company, who: str) -> Figures:
    now, before = company.ledger.seen(who, "employee"), company.ledger.seen_before(who, "employee")
    this_month = company.dates.day(0)[:7]

    def count(facts: Sequence[Fact], field: str, matches: Callable[[str], bool]) -> int:
        return sum(matches(fact[field][:7]) for fact in facts if fact[field])

    def headcount(facts: Sequence[Fact], last: str) -> int:
        joined, left = (count(facts, field, lambda month: month <= last) for field in ("hired", "left"))
        return joined - left

    return [
        {
            "month": month,
            "headcount": headcount(before if month < this_month else now, month),
            "joined": count(before, "hired", month.__eq__),
            "left": count(now, "left", month.__eq__),
        }
        for month in company.dates.months(12)
    ]


def _attendance(company: Company, who: str) -> Figures:
    days = _by(company.ledger.seen(who, "day"), lambda fact: fact["day"])

    def counts(facts: Sequence[Fact]) -> dict[str, int]:
        late, missed = (sum(fact[name] for fact in facts) for name in ("late", "missed"))
        return {"present": len(facts), "late": late, "missed_punch": missed}

    items = [{"date": day, **counts(days[day])} for day in company.dates.days]
    return {**counts(company.ledger.seen(who, "day")), "items": items}


def _stock(company: Company, who: str) -> Figures:
    totals = {name: stock.totals for name, stock in company.ledger.warehouses(who).items()}
    return {name: (_number(quantity), f"{value:.2f}") for name, (quantity, value) in totals.items()}


def _trade(company: Company, who: str) -> Figures:
    sales, purchases = (
        _by(company.ledger.seen(who, kind), lambda fact: fact["day"][:7]) for kind in ("sale", "purchase")
    )
    return [
        {"month": month, "sales": money(sales[month]), "purchase": money(purchases[month])}
        for month in company.dates.months(12)
    ]


def _month(company: Company) -> str:
    return f"date_from={company.dates.days[0]}&date_to={company.dates.days[-1]}"


def _year(company: Company) -> str:
    return "months=12"


def _nothing(company: Company) -> str:
    return ""


def _items(data: Any) -> Figures:
    return data["items"]


CHARTS: Mapping[str, Chart] = {
    "overview": Chart(_nothing, _overview),
    "sales-trend": Chart(lambda company: f"days={LENGTH}", _sales_trend, _items),
    "customer-distribution": Chart(
        _nothing, _customers, lambda data: {name: _slices(slices) for name, slices in data.items()}
    ),
    "opportunity-funnel": Chart(
        _nothing, _funnel, lambda data: [(one["stage"], one["count"], one["amount"]) for one in data["items"]]
    ),
    "finance-summary": Chart(_month, _finance),
    "contract-trend": Chart(_year, _contract_trend, _items),
    "sales-ranking": Chart(_month, _ranking("payment"), _items),
    "sales-ranking by contracts": Chart(
        lambda company: f"{_month(company)}&by=contracts", _ranking("contract"), _items
    ),
    "lead-source-distribution": Chart(_nothing, _lead_sources, lambda data: _slices(data["items"])),
    "employee-distribution": Chart(
        _nothing, _employees, lambda data: {(one["department_id"], one["name"]): one["value"] for one in data["items"]}
    ),
    "headcount-trend": Chart(_year, _headcount, _items),
    "attendance-summary": Chart(_month, _attendance),
    "stock-value-by-warehouse": Chart(
        _nothing, _stock, lambda data: {one["name"]: (one["quantity"], one["value"]) for one in data["items"]}
    ),
    "sales-vs-purchase": Chart(_year, _trade, _items),
}
