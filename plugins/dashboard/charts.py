"""The thirteen dashboards of SPEC 4.6 in the shapes of CONTRACT 9. What is in them comes from the plugins' parts."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import Field, array, choice, integer, money, obj, object_id, quantity, text
from plugins.api import day as calendar_day
from plugins.dashboard.serving import dashboard_route

_MOST = 10_000
_AMOUNT = money(nullable=False)
_COUNT = integer(minimum=0, nullable=False)
_NAME = text(nullable=False)
_DATE = calendar_day(nullable=False)
_MONTH = text(nullable=False, pattern=r"^[0-9]{4}-[0-9]{2}$", max_length=7, example="2026-11")

_DAYS = {"days": integer(minimum=1, maximum=366, default=30, nullable=False, example=30, description="Up to today.")}
_MONTHS = {
    "months": integer(minimum=1, maximum=36, default=12, nullable=False, example=12, description="Up to this one.")
}
_RANGE = {
    "date_from": calendar_day(nullable=False, example="2026-01-01", description="The first day; any when left out."),
    "date_to": calendar_day(nullable=False, example="2026-12-31", description="The last day; any when left out."),
}
_SERIES = {
    "date_from": _RANGE["date_from"].but(
        description="The first day, at most 3,660 points before the last one; as far back as there is anything when left out."
    ),
    "date_to": _RANGE["date_to"].but(description="The last day; up to tomorrow when left out."),
}
_RANKING = {
    **_RANGE,
    "limit": integer(minimum=1, maximum=100, default=10, nullable=False, example=10, description="How many people."),
    "by": choice("payments", "contracts", default="payments", nullable=False,
                 description="Payments received, or contracts in force or completed."),
}  # fmt: skip


def _items(name: str, fields: Mapping[str, Field]) -> dict[str, Field]:
    return {"items": array(obj(name, fields, nullable=False), max_items=_MOST, nullable=False)}


_SLICE = {"name": _NAME, "value": _COUNT}
_SLICES = array(obj("Slice", _SLICE, nullable=False), max_items=_MOST, nullable=False)
_RESULT = {"income": _AMOUNT, "expense": _AMOUNT, "profit": _AMOUNT}
_ATTENDANCE = {"present": _COUNT, "late": _COUNT, "missed_punch": _COUNT}

CHARTS = (
    dashboard_route("overview", summary="Show the core totals", returns={
        "customers": _COUNT, "opportunities": _COUNT, "contract_amount": _AMOUNT, "received_amount": _AMOUNT,
        "pending_approvals": _COUNT,
    }),
    dashboard_route("sales-trend", summary="Show the payments received by day", query=_DAYS, returns={
        "days": _COUNT, **_items("SalesDay", {"date": _DATE, "amount": _AMOUNT, "count": _COUNT}),
    }),
    dashboard_route("customer-distribution", summary="Show the customers by industry and level", returns={
        "by_industry": _SLICES, "by_level": _SLICES,
    }),
    dashboard_route("opportunity-funnel", summary="Show the opportunities by stage", returns=_items(
        "FunnelStage", {"stage": _NAME, "name": _NAME, "count": _COUNT, "amount": _AMOUNT})),
    dashboard_route("finance-summary", summary="Show income, expense and profit by month", query=_SERIES, returns={
        **_RESULT, **_items("FinanceMonth", {"month": _MONTH, **_RESULT}),
    }),
    dashboard_route("contract-trend", summary="Show the contracts signed by month", query=_MONTHS, returns=_items(
        "ContractMonth", {"month": _MONTH, "count": _COUNT, "amount": _AMOUNT})),
    dashboard_route("sales-ranking", summary="Rank people by payments or contracts", query=_RANKING, returns=_items(
        "RankedPerson", {"rank": _COUNT, "user_id": _COUNT, "name": _NAME, "amount": _AMOUNT, "count": _COUNT})),
    dashboard_route("lead-source-distribution", summary="Show the leads by source", returns={"items": _SLICES}),
    dashboard_route("employee-distribution", summary="Show the employees by department", returns=_items(
        "DepartmentSlice", {"department_id": integer(minimum=1), **_SLICE})),
    dashboard_route("headcount-trend", summary="Show the headcount by month", query=_MONTHS, returns=_items(
        "HeadcountMonth", {"month": _MONTH, "headcount": _COUNT, "joined": _COUNT, "left": _COUNT})),
    dashboard_route("attendance-summary", summary="Show attendance by day", query=_SERIES, returns={
        **_ATTENDANCE, **_items("AttendanceDay", {"date": _DATE, **_ATTENDANCE}),
    }),
    dashboard_route("stock-value-by-warehouse", summary="Show the stock's value by warehouse", returns=_items(
        "WarehouseStock", {"warehouse_id": object_id(nullable=False), "name": _NAME,
                           "quantity": quantity(nullable=False), "value": _AMOUNT})),
    dashboard_route("sales-vs-purchase", summary="Compare sales with purchases by month", query=_MONTHS, returns=_items(
        "SalesAndPurchase", {"month": _MONTH, "sales": _AMOUNT, "purchase": _AMOUNT})),
)  # fmt: skip
