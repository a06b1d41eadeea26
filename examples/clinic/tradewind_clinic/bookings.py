"""Bookings: a doctor has one at a time; the price is that of the treatment on the day when somebody submits it."""

from datetime import timedelta

from plugins.api import CONFLICT, NOTIFY, Action, ApiError, Approval, ErrorKind, Message, Option, Record, Request
from plugins.api import Service, Step, conflicts, crud, integer, tables, transitions, utc_now
from plugins.api.ports import OptionValues
from tradewind_clinic.records import BOOKINGS, STATES, TAKES_TIME, TREATMENTS

TAKEN = ErrorKind(
    "clinic.taken", 61001, 409, Message("该医生此时段已有预约", "The doctor has a booking at that time"), "two at once"
)
NOT_A_DRAFT = Message("只有草稿可以修改", "Only a draft can be changed")
NOT_OPEN = Message("不在可预约的日期内", "That day is past, or too far ahead to be booked")
TOMORROW = Message("明日预约：{reason}", "Booked for tomorrow: {reason}")
DAYS_AHEAD = Option(
    "clinic_days_ahead",
    integer(minimum=1, maximum=730, default=90, nullable=False),
    Message("最多可提前预约的天数", "How many days ahead a booking may be"),
)
LONGEST = timedelta(minutes=480)  # of a treatment


async def take_slot(step: Step[Record]) -> Record:
    """Return the end and the price of a booking. Raises an error if its time is too far ahead, past or taken."""
    booking, starts_at = step.record, step.record["starts_at"]
    days = await step.service.part(OptionValues).value(DAYS_AHEAD.key)
    if not step.now <= starts_at <= step.now + timedelta(days=days):
        raise ApiError(CONFLICT, NOT_OPEN)
    treatment = await step.store(TREATMENTS).get(booking["treatment_id"])
    ends_at = starts_at + timedelta(minutes=treatment["minutes"])
    await step.service.database.lock(BOOKINGS, f"doctor-{booking['doctor_id']}")
    others = {
        "doctor_id": booking["doctor_id"],
        "status": {"$in": TAKES_TIME},
        "starts_at": {"$gt": starts_at - LONGEST, "$lt": ends_at},
        "ends_at": {"$gt": starts_at},
    }
    if await step.store(BOOKINGS).find_one(others):
        raise ApiError(TAKEN)
    return {"ends_at": ends_at, "price": treatment["price"]}


async def change(req: Request) -> Record:
    """Change a draft. What was submitted has its time, so it is withdrawn first."""
    values = dict(req.body)
    version = values.pop("version")
    return await req.store(BOOKINGS).update(
        req.path["id"], values, version=version, where=STATES.allows("submit"), reason=NOT_A_DRAFT
    )


async def delete(req: Request) -> None:
    """Delete a draft."""
    await req.store(BOOKINGS).delete(req.path["id"], where=STATES.allows("submit"), reason=NOT_A_DRAFT)


async def remind(service: Service) -> None:
    """Tell doctors what is booked for the next 24 hours; the key keeps a second message from being sent."""
    now = utc_now()
    due = {"status": "booked", "starts_at": {"$gte": now, "$lt": now + timedelta(days=1)}}
    async for booking in service.database.store(BOOKINGS).stream({}, due):
        message = {
            "user_ids": [booking["doctor_id"]],
            "kind": "clinic_reminder",
            "title": TOMORROW.filled(reason=booking["reason"]),
            "link": f"/clinic/bookings/{booking['id']}",
            "key": f"clinic-booking:{booking['id']}:{booking['starts_at']:%Y%m%dT%H%M}",
        }
        await service.events.emit(NOTIFY, message)


AT, MAY = "/api/v1/clinic/bookings", "clinic:booking"
ROUTES = (
    *crud(
        BOOKINGS,
        at=AT,
        resource=MAY,
        update=change,
        delete=delete,
        refusals_of={"update": conflicts(NOT_A_DRAFT), "delete": conflicts(NOT_A_DRAFT)},
    ),
    *tables(BOOKINGS, at=AT, resource=MAY, only=("export",)),
    *transitions(
        BOOKINGS,
        Action(
            f"POST {AT}/{{id}}/submit", f"{MAY}:submit", values=take_slot, errors=(TAKEN,), refusals=conflicts(NOT_OPEN)
        ),
        Action(f"POST {AT}/{{id}}/withdraw", f"{MAY}:submit"),
        Action(f"POST {AT}/{{id}}/reject", f"{MAY}:confirm"),
        Action(f"POST {AT}/{{id}}/confirm", f"{MAY}:confirm"),
        Action(f"POST {AT}/{{id}}/complete", f"{MAY}:complete"),
        Action(f"POST {AT}/{{id}}/cancel", f"{MAY}:cancel"),
        approval=Approval(done="confirm"),
    ),
)
