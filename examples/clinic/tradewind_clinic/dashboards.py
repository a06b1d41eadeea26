"""What the clinic earns by month: `GET /api/dashboard/clinic-income?months=12`."""

from plugins.api import array, integer, money, obj, text
from plugins.api.reports import ByTime, Figures, summed
from plugins.dashboard.api import dashboard_routes
from tradewind_clinic.records import BOOKINGS

MONTHS = {"months": integer(label=("月数", "Months"), minimum=1, maximum=36, default=12, nullable=False, example=12)}
MONTH = {"month": text(nullable=False), "count": integer(nullable=False), "amount": money(nullable=False)}
INCOME = Figures(
    BOOKINGS,
    {"count": 1, "amount": "$price"},
    where=lambda _: {"status": "done"},
    by=ByTime("starts_at", "month", moment=True),
)
DASHBOARDS = (summed("clinic-income", INCOME),)
ROUTES = dashboard_routes(
    "GET /api/dashboard/clinic-income",
    summary="Show the income of the clinic by month",
    access="dashboard:chart:clinic-income",
    query=MONTHS,
    returns={"items": array(obj("ClinicMonth", MONTH, nullable=False), nullable=False)},
)
