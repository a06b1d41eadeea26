"""The dashboards (SPEC 4.6, CONTRACT 9)."""

from __future__ import annotations

from plugins.api import Menu, Message, Plugin
from plugins.dashboard.charts import CHARTS
from plugins.dashboard.serving import RESOURCE, executions
from plugins.dashboard.settings import DashboardSettings

plugin = Plugin(
    name="dashboard",
    title=Message("数据看板", "Dashboards"),
    routes=CHARTS,
    settings=DashboardSettings,
    start=executions,
    menus=(
        Menu("dashboard", Message("数据看板", "Dashboards"), path="/dashboard", resource=RESOURCE,
             icon="lucide:layout-dashboard", order=1),
    ),
    permissions={
        f"{RESOURCE}:{name}": title for name, title in {
            "overview": Message("核心指标", "Overview"),
            "sales-trend": Message("回款趋势", "Sales trend"),
            "customer-distribution": Message("客户分布", "Customer distribution"),
            "opportunity-funnel": Message("商机漏斗", "Opportunity funnel"),
            "finance-summary": Message("收支汇总", "Finance summary"),
            "contract-trend": Message("合同签约趋势", "Contract trend"),
            "sales-ranking": Message("业绩排行", "Sales ranking"),
            "lead-source-distribution": Message("线索来源分布", "Lead sources"),
            "employee-distribution": Message("人员分布", "Employee distribution"),
            "headcount-trend": Message("人员趋势", "Headcount trend"),
            "attendance-summary": Message("考勤汇总", "Attendance summary"),
            "stock-value-by-warehouse": Message("仓库库存金额", "Stock value by warehouse"),
            "sales-vs-purchase": Message("销售与采购对比", "Sales and purchases"),
        }.items()
    },
)  # fmt: skip
