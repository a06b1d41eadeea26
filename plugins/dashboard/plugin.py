"""The plugin dashboard: live figures over all business modules."""

from __future__ import annotations

from plugins.api import Menu, Message, Plugin, dictionary
from plugins.dashboard import charts
from plugins.dashboard.lifespan import DashboardSettings, start

DICTIONARIES = (
    dictionary(
        "dashboard_ranking",
        ("排名依据", "Ranking basis"),
        payments=("回款额", "Payments"),
        contracts=("合同额", "Contracts"),
    ),
)


MENUS = (
    Menu(
        "dashboard",
        Message("数据看板", "Dashboards"),
        path="/dashboard",
        resource="dashboard:chart",
        icon="lucide:layout-dashboard",
        order=1,
    ),
)

PERMISSIONS = {
    "dashboard:chart:overview": Message("核心指标", "Overview"),
    "dashboard:chart:sales-trend": Message("回款趋势", "Payment trend"),
    "dashboard:chart:customer-distribution": Message("客户分布", "Customer distribution"),
    "dashboard:chart:opportunity-funnel": Message("商机漏斗", "Opportunity funnel"),
    "dashboard:chart:finance-summary": Message("收支汇总", "Finance summary"),
    "dashboard:chart:contract-trend": Message("合同签约趋势", "Contract trend"),
    "dashboard:chart:sales-ranking": Message("业绩排行", "Sales ranking"),
    "dashboard:chart:lead-source-distribution": Message("线索来源分布", "Lead sources"),
    "dashboard:chart:employee-distribution": Message("人员分布", "Employee distribution"),
    "dashboard:chart:headcount-trend": Message("人员趋势", "Headcount trend"),
    "dashboard:chart:attendance-summary": Message("考勤汇总", "Attendance summary"),
    "dashboard:chart:stock-value-by-warehouse": Message("仓库库存金额", "Stock value by warehouse"),
    "dashboard:chart:sales-vs-purchase": Message("销售与采购对比", "Sales and purchases"),
}


plugin = Plugin(
    name="dashboard",
    title=Message("数据看板", "Dashboards"),
    routes=charts.ROUTES,
    settings=DashboardSettings,
    start=start,
    dictionaries=DICTIONARIES,
    menus=MENUS,
    permissions=PERMISSIONS,
)
