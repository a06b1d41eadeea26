"""The clinic: what it is made of."""

from pydantic import Field

from plugins.api import EnvironmentSettings, Job, Menu, Message, Plugin, View, crud, page, tables
from tradewind_clinic import bookings, dashboards
from tradewind_clinic.records import BOOKINGS, CHARTS, KINDS, TREATMENTS

TREATMENTS_AT = "/api/v1/clinic/treatments"


class ClinicSettings(EnvironmentSettings):
    """Settings in the environment, such as `TRADEWIND_CLINIC_REMINDER_SECONDS`."""

    clinic_reminder_seconds: float = Field(3600, gt=0, description="How often doctors are reminded, in seconds.")


plugin = Plugin(
    name="clinic",
    title=Message("诊所", "Clinic"),
    version="0.1.0",
    api=1,
    requires=("rbac", "system", "crm", "dashboard"),
    settings=ClinicSettings,
    collections=(TREATMENTS, BOOKINGS),
    extends=(CHARTS,),
    routes=(
        *crud(TREATMENTS, at=TREATMENTS_AT, resource="clinic:treatment"),
        *tables(TREATMENTS, at=TREATMENTS_AT, resource="clinic:treatment"),
        *bookings.ROUTES,
        *dashboards.ROUTES,
    ),
    menus=(
        Menu("clinic", Message("诊所", "Clinic"), path="/clinic", icon="lucide:stethoscope"),
        page("clinic:booking", ("预约", "Bookings"), "/clinic/bookings", "lucide:calendar-plus", 1),
        page("clinic:treatment", ("诊疗项目", "Treatments"), "/clinic/treatments", "lucide:list", 2),
    ),
    views=(
        View(
            BOOKINGS,
            columns=("starts_at", "doctor_id", "customer_id", "treatment_id", "status"),
            groups={
                ("时间", "Time"): ("starts_at", "ends_at", "doctor_id"),
                ("诊疗", "Treatment"): ("customer_id", "treatment_id", "reason", "price"),
            },
            due="starts_at",
            due_only={"status": "asked"},
        ),
    ),
    biz_types={"BOOKING": BOOKINGS},
    dictionaries=(KINDS,),
    options=(bookings.DAYS_AHEAD,),
    dashboards=dashboards.DASHBOARDS,
    jobs=(Job("clinic.reminders", "clinic_reminder_seconds", bookings.remind, Message("预约提醒", "Reminders")),),
    permissions={"dashboard:chart:clinic-income": Message("诊所收入", "Income of the clinic")},
    errors=(bookings.TAKEN,),
)
