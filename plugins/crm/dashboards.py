"""Dashboards of crm: customers, leads, opportunities, contracts and payments received."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import Collection, Field, Message, Request, exact
from plugins.api.business import base_expression
from plugins.api.data import Filter, RecordNames
from plugins.api.records import Dictionaries
from plugins.api.reports import ByTime, ByValue, Dashboard, Figures, Period, period_of, summed
from plugins.crm.amendment_records import AMENDMENTS
from plugins.crm.contract_records import CONTRACTS, PAYMENTS
from plugins.crm.payments import PAYABLE
from plugins.crm.records import CUSTOMERS, LEADS, OPPORTUNITIES
from plugins.crm.states import OPPORTUNITY_STAGES

Part = dict[str, Any]
_NONE = Message("未填写", "Unspecified")
_TOTAL: Mapping[str, object] = {"amount": "$amount", "count": 1}
_WORTH: Mapping[str, Any] = {"$ifNull": ["$base_amount", "$amount"]}  # in the company's currency, as all figures are
# a reversal has an amount below zero, and so counts as minus one: it cancels the payment that it reverses
_RECEIVED: Mapping[str, object] = {"amount": _WORTH, "count": {"$cmp": ["$amount", 0]}}
# a payment to an account is in the books, where its voucher counts instead
_NOT_IN_BOOKS: Mapping[str, Any] = {"$cond": [{"$gt": ["$account_id", None]}, 0, _WORTH]}
# records of earlier versions have only an owner
_SELLER = {"$ifNull": ["$salesperson_id", "$owner_id"]}


class _BySeller(ByValue):
    """Rows of whoever had made the sale, whoever owns it now."""

    def filter_of(self, collection: Collection, key: str, period: Period) -> Filter:
        """Return the filter for what this person sold. Raises ValueError for nobody, who is not ranked."""
        if not key:
            raise ValueError(key)
        sold = super().filter_of(collection, key, period)
        return {"$or": [sold, {self.field: None, "owner_id": sold[self.field]}]}


_BY_SELLER = _BySeller("salesperson_id", "user_id")


def _paid(period: Period) -> Filter:
    return period.moments("paid_at")


# an amendment counts by itself, on its own day
_AS_SIGNED = base_expression({"$subtract": ["$amount", {"$ifNull": ["$amended_amount", 0]}]})
_CHANGE: Mapping[str, Any] = {"$ifNull": ["$base_change", "$change"]}


@dataclass(frozen=True)
class _Counted:
    """Contracts that match `where`, and that figures count by the day in `field`, as more or as less.

    With `amends` it is amendments, which change an amount and are no contracts of their own.
    """

    where: Filter
    field: str
    less: bool = False
    amends: bool = False

    @property
    def collection(self) -> Collection:
        """What is counted."""
        return AMENDMENTS if self.amends else CONTRACTS

    @property
    def sums(self) -> Mapping[str, object]:
        """What one record adds to the figures."""
        amount, count = (_CHANGE, 0) if self.amends else (_AS_SIGNED, 1)
        return {
            "amount": {"$subtract": [0, amount]} if self.less else amount,
            "count": {"$literal": -count if self.less else count},
        }

    def by_month(self) -> Figures:
        """The figures of each month."""
        return Figures(self.collection, self.sums, where=lambda period: self.where, by=ByTime(self.field, "month"))

    def by_seller(self) -> Figures:
        """The figures of each person who sold."""
        return Figures(self.collection, self.sums, where=self._during, by=_BY_SELLER, when={"by": "contracts"})

    def _during(self, period: Period) -> Filter:
        return {**self.where, **period.days(self.field)}


_IS_AGREED: Filter = {"status": {"$in": list(PAYABLE)}}  # figures count contracts in force or completed
_WAS_TAKEN_OFF: Filter = {"status": "terminated", "$and": [{"taken_off_on": {"$gt": ""}}]}
_WAS_ENDED: Filter = {"status": "ended", "$and": [{"taken_off_on": {"$gt": ""}}]}
_CONTRACTS = (
    _Counted({**_IS_AGREED, "$and": [{"booked_on": {"$gt": ""}}]}, "booked_on"),
    # an earlier version approved them; without null, which would be compared in the records and not in the index
    _Counted({**_IS_AGREED, "$and": [{"booked_on": {"$not": {"$gt": ""}}}]}, "signed_date"),
    _Counted(_WAS_TAKEN_OFF, "booked_on"),
    _Counted(_WAS_TAKEN_OFF, "taken_off_on", less=True),
    _Counted({"status": "in_force"}, "booked_on", amends=True),
    _Counted(_WAS_ENDED, "booked_on", amends=True),
    _Counted(_WAS_ENDED, "taken_off_on", less=True, amends=True),
)


def _created(period: Period) -> Filter:
    return period.moments("created_at")


def _agreed(period: Period) -> Filter:
    if period.open:
        return _IS_AGREED
    signed = {"booked_on": None, **period.days("signed_date")}  # an earlier version approved these
    return {**_IS_AGREED, "$or": [period.days("booked_on"), signed]}


OVERVIEW = (
    Figures(CUSTOMERS, {"customers": 1}, where=_created),
    Figures(OPPORTUNITIES, {"opportunities": 1}, where=_created),
    Figures(CONTRACTS, {"contract_amount": base_expression("$amount")}, where=_agreed),
    Figures(PAYMENTS, {"received_amount": _WORTH}, where=_paid),
)
SALES_TREND = Figures(PAYMENTS, _RECEIVED, by=ByTime("paid_at", "date", moment=True))
# payments received that are not in the books; the others count by their vouchers
INCOME = Figures(
    PAYMENTS,
    {"income": _NOT_IN_BOOKS, "profit": _NOT_IN_BOOKS},
    by=ByTime("paid_at", "month", moment=True),
    totals=True,
)
CONTRACT_TREND = tuple(one.by_month() for one in _CONTRACTS)
RANKINGS = {
    "payments": (Figures(PAYMENTS, _RECEIVED, where=_paid, by=_BY_SELLER, when={"by": "payments"}),),
    "contracts": tuple(one.by_seller() for one in _CONTRACTS),
}
DISTRIBUTION = tuple(
    Figures(CUSTOMERS, {"value": 1}, by=ByValue(name, "code"), array=f"by_{name}") for name in ("industry", "level")
)
SOURCES = Figures(LEADS, {"value": 1}, by=ByValue("source", "code"))
FUNNEL = Figures(OPPORTUNITIES, _TOTAL, by=ByValue("stage", "stage"))


async def sales_ranking(req: Request) -> Part:
    """Return who sold what was paid or signed, highest amount first; equal amounts are in order of user id."""
    period, totals = period_of(req), defaultdict[int, Part](lambda: {"amount": Decimal(0), "count": 0})
    for figures in RANKINGS[req.query["by"]]:
        found = await req.store(figures.collection).aggregate(
            [*figures.stages(period, _SELLER), {"$match": {"_id": {"$ne": None}}}],
            collection_scan=figures.collection is PAYMENTS and period.open,
        )
        for row in found:
            total = totals[row["_id"]]
            total["amount"] += exact(row["amount"])
            total["count"] += row["count"]
    highest = sorted(totals.items(), key=lambda one: (-one[1]["amount"], one[0]))[: req.query["limit"]]
    rows = [{"_id": seller, **total} for seller, total in highest]
    names = (await req.part(RecordNames).look_up({"users": [row["_id"] for row in rows]}, req.language))["users"]
    return {
        "items": [
            {**row, "rank": number, "user_id": row["_id"], "name": names.get(row["_id"], "")}
            for number, row in enumerate(rows, 1)
        ]
    }


async def customer_distribution(req: Request) -> Part:
    """Return the number of customers by industry and by level, largest first."""
    # one pass over the collection for both fields
    rows = await req.store(CUSTOMERS).aggregate(
        [{"$group": {"_id": {"industry": "$industry", "level": "$level"}, "value": {"$sum": 1}}}], collection_scan=True
    )
    return {
        f"by_{name}": await _to_slices(
            req, CUSTOMERS.fields[name], ((row["_id"].get(name), row["value"]) for row in rows)
        )
        for name in ("industry", "level")
    }


async def lead_source_distribution(req: Request) -> Part:
    """Return the number of leads by source, largest first."""
    rows = await req.store(LEADS).aggregate(SOURCES.stages(period_of(req), "$source"), collection_scan=True)
    return {"items": await _to_slices(req, LEADS.fields["source"], ((row["_id"], row["value"]) for row in rows))}


async def _to_slices(req: Request, field: Field, counted: Iterable[tuple[str | None, int]]) -> list[Part]:
    """Return slices of a pie chart by the values of a field, largest first. Empty and missing values share a slice."""
    totals: Counter[str] = Counter()
    for code, count in counted:
        totals[code or ""] += count
    ordered = sorted(totals.items(), key=lambda one: (-one[1], one[0]))
    dictionaries, none = req.part(Dictionaries), _NONE.text(req.language)
    return [
        {
            "name": await dictionaries.label(field, code, req.language) if code else none,
            "code": code or None,
            "value": count,
        }
        for code, count in ordered
    ]


async def opportunity_funnel(req: Request) -> Part:
    """Return the count and the amount of opportunities by stage, in the order of the stages of a deal."""
    rows = await req.store(OPPORTUNITIES).aggregate(FUNNEL.stages(period_of(req), "$stage"), collection_scan=True)
    found = {row["_id"]: row for row in rows}
    return {
        "items": [
            {"stage": stage, "name": label.text(req.language), **found.get(stage, {})}
            for stage, label in OPPORTUNITY_STAGES.states.items()
        ]
    }


DASHBOARDS = (
    summed("overview", *OVERVIEW),
    summed("sales-trend", SALES_TREND),
    summed("finance-summary", INCOME),
    summed("contract-trend", *CONTRACT_TREND),
    Dashboard("sales-ranking", sales_ranking, figures=tuple(one for ranked in RANKINGS.values() for one in ranked)),
    Dashboard("customer-distribution", customer_distribution, figures=DISTRIBUTION),
    Dashboard("lead-source-distribution", lead_source_distribution, figures=(SOURCES,)),
    Dashboard("opportunity-funnel", opportunity_funnel, figures=(FUNNEL,)),
)
