"""The thirteen built-in dashboards and their shapes. The business plugins compute their parts."""

from __future__ import annotations

from collections.abc import Mapping

from plugins.api import (
    Field,
    Route,
    array,
    choice,
    day as calendar_day,
    integer,
    money,
    object_id,
    quantity,
    shape,
    text,
)
from plugins.dashboard.serving import dashboard_routes

_MAX_ROWS = 10_000
_MONEY = money(nullable=False)
_AMOUNT = _MONEY.but(label=("金额", "Amount"))
_NUMBER = integer(minimum=0, nullable=False)
_COUNT = _NUMBER.but(label=("数量", "Count"))
_NAME = text(nullable=False)
_DATE = calendar_day(nullable=False)
_MONTH = text(nullable=False, pattern=r"^[0-9]{4}-[0-9]{2}$", max_length=7, example="2026-11")

_DAYS = {
    "days": integer(
        label=("天数", "Days"),
        minimum=1,
        maximum=366,
        default=30,
        nullable=False,
        example=30,
        description="Number of days up to today.",
    )
}
_MONTHS = {
    "months": integer(
        label=("月数", "Months"),
        minimum=1,
        maximum=36,
        default=12,
        nullable=False,
        example=12,
        description="Number of months up to the current one.",
    )
}
_RANGE = {
    "date_from": calendar_day(
        label=("开始日期", "From"),
        nullable=False,
        example="2026-01-01",
        description="First day of the period; unlimited if omitted.",
    ),
    "date_to": calendar_day(
        label=("结束日期", "To"),
        nullable=False,
        example="2026-12-31",
        description="Last day of the period; unlimited if omitted.",
    ),
}
_SERIES = {
    "date_from": _RANGE["date_from"].but(
        description="First day of the period, at most 3,660 points before the last one; "
        "if omitted, the period begins with the earliest record."
    ),
    "date_to": _RANGE["date_to"].but(description="Last day of the period; if omitted, up to tomorrow."),
}
_RANKING = {
    **_RANGE,
    "limit": integer(
        label=("人数", "People"),
        minimum=1,
        maximum=100,
        default=10,
        nullable=False,
        example=10,
        description="Maximum number of people returned.",
    ),
    "by": choice(
        "payments",
        "contracts",
        label=("依据", "By"),
        default="payments",
        nullable=False,
        description="Payments received, or contracts in force or completed.",
    ),
}


def _items(name: str, fields: Mapping[str, Field]) -> dict[str, Field]:
    return {"items": array(shape(name, **fields), max_items=_MAX_ROWS, nullable=False)}


_SLICE = {"name": _NAME, "value": _COUNT}
_CODE = text(description="The stored value, of which `name` is the label; null for records without a value.")
_SLICES = array(shape("Slice", **_SLICE, code=_CODE), max_items=_MAX_ROWS, nullable=False)
_RESULT = {
    "income": _MONEY.but(label=("收入", "Income")),
    "expense": _MONEY.but(label=("支出", "Expense")),
    "profit": _MONEY.but(label=("利润", "Profit")),
}
_ATTENDANCE = {
    "present": _NUMBER.but(label=("出勤", "Present")),
    "late": _NUMBER.but(label=("迟到", "Late")),
    "missed_punch": _NUMBER.but(label=("缺卡", "Missed punch")),
}

ROUTES: tuple[Route, ...] = (
    *dashboard_routes(
        "GET /api/dashboard/overview",
        summary="Show the key figures",
        access="dashboard:chart:overview",
        returns={
            "customers": _NUMBER.but(label=("客户数", "Customers")),
            "opportunities": _NUMBER.but(label=("商机数", "Opportunities")),
            "contract_amount": _MONEY.but(label=("合同金额", "Contract amount")),
            "received_amount": _MONEY.but(label=("回款金额", "Received")),
            "pending_approvals": _NUMBER.but(label=("待审批", "Pending approvals")),
        },
        compared=("customers", "opportunities", "contract_amount", "received_amount"),
    ),
    *dashboard_routes(
        "GET /api/dashboard/sales-trend",
        summary="Show the payments received by day",
        access="dashboard:chart:sales-trend",
        query=_DAYS,
        returns={
            "days": _NUMBER,
            **_items("SalesDay", {"date": _DATE, "amount": _AMOUNT, "count": _COUNT}),
        },
    ),
    *dashboard_routes(
        "GET /api/dashboard/customer-distribution",
        summary="Show the customers by industry and level",
        access="dashboard:chart:customer-distribution",
        returns={
            "by_industry": _SLICES,
            "by_level": _SLICES,
        },
    ),
    *dashboard_routes(
        "GET /api/dashboard/opportunity-funnel",
        summary="Show the opportunities by stage",
        access="dashboard:chart:opportunity-funnel",
        returns=_items("FunnelStage", {"stage": _NAME, "name": _NAME, "count": _COUNT, "amount": _AMOUNT}),
    ),
    *dashboard_routes(
        "GET /api/dashboard/finance-summary",
        summary="Show income, expense and profit by month",
        access="dashboard:chart:finance-summary",
        query=_SERIES,
        returns={
            **_RESULT,
            **_items("FinanceMonth", {"month": _MONTH, **_RESULT}),
        },
        compared=tuple(_RESULT),
    ),
    *dashboard_routes(
        "GET /api/dashboard/contract-trend",
        summary="Show the contracts signed by month",
        access="dashboard:chart:contract-trend",
        query=_MONTHS,
        returns=_items("ContractMonth", {"month": _MONTH, "count": _COUNT, "amount": _AMOUNT}),
    ),
    *dashboard_routes(
        "GET /api/dashboard/sales-ranking",
        summary="Rank people by payments or contracts",
        access="dashboard:chart:sales-ranking",
        query=_RANKING,
        returns=_items(
            "RankedPerson",
            {"rank": _NUMBER, "user_id": _NUMBER.but(ref="users"), "name": _NAME, "amount": _AMOUNT, "count": _COUNT},
        ),
    ),
    *dashboard_routes(
        "GET /api/dashboard/lead-source-distribution",
        summary="Show the leads by source",
        access="dashboard:chart:lead-source-distribution",
        returns={"items": _SLICES},
    ),
    *dashboard_routes(
        "GET /api/dashboard/employee-distribution",
        summary="Show the employees by department",
        access="dashboard:chart:employee-distribution",
        returns=_items("DepartmentSlice", {"department_id": integer(minimum=1, ref="departments"), **_SLICE}),
    ),
    *dashboard_routes(
        "GET /api/dashboard/headcount-trend",
        summary="Show the headcount by month",
        access="dashboard:chart:headcount-trend",
        query=_MONTHS,
        returns=_items(
            "HeadcountMonth",
            {
                "month": _MONTH,
                "headcount": _NUMBER.but(label=("在职人数", "Headcount")),
                "joined": _NUMBER.but(label=("入职", "Joined")),
                "left": _NUMBER.but(label=("离职", "Left")),
            },
        ),
    ),
    *dashboard_routes(
        "GET /api/dashboard/attendance-summary",
        summary="Show attendance by day",
        access="dashboard:chart:attendance-summary",
        query=_SERIES,
        returns={
            **_ATTENDANCE,
            **_items("AttendanceDay", {"date": _DATE, **_ATTENDANCE}),
        },
        compared=tuple(_ATTENDANCE),
    ),
    *dashboard_routes(
        "GET /api/dashboard/stock-value-by-warehouse",
        summary="Show the stock value by warehouse",
        access="dashboard:chart:stock-value-by-warehouse",
        departments=False,
        returns=_items(
            "WarehouseStock",
            {
                "warehouse_id": object_id(nullable=False, ref="inventory_warehouses"),
                "name": _NAME,
                "quantity": quantity(label=("库存数量", "Quantity"), nullable=False),
                "value": _MONEY.but(label=("库存金额", "Value")),
            },
        ),
    ),
    *dashboard_routes(
        "GET /api/dashboard/sales-vs-purchase",
        summary="Compare sales with purchases by month",
        access="dashboard:chart:sales-vs-purchase",
        query=_MONTHS,
        returns=_items(
            "SalesAndPurchase",
            {
                "month": _MONTH,
                "sales": _MONEY.but(label=("销售", "Sales")),
                "purchase": _MONEY.but(label=("采购", "Purchases")),
            },
        ),
    ),
)
