"""Types of leave: how each is earned, carried over and taken, and by whom. Their names are those of a dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    ApiError,
    Collection,
    Index,
    Listener,
    Message,
    Record,
    Request,
    Route,
    Service,
    array,
    boolean,
    choice,
    conflicts,
    crud,
    day,
    day_of,
    dictionary,
    exact,
    integer,
    invalid,
    obj,
    quantity,
    record_name,
    text,
)
from plugins.api.events import DATA_RESET
from plugins.hrm.leave_ledger import Rules
from plugins.hrm.leave_records import ALLOWANCES, LEAVES
from plugins.hrm.messages import CODE_FIXED, UNIT_FIXED
from plugins.hrm.record_types import Employee, LeaveType
from plugins.hrm.request_records import DAY_KIND
from plugins.hrm.texts import LEAVE_TYPE
from plugins.system.api import DICTIONARIES as STORED_DICTIONARIES, put_item

_MOST = "10000"
_STEPS = {"day": Decimal(1), "half": Decimal("0.5"), "hour": Decimal("0.5")}
_UNPAID = ("personal", "other")
DICTIONARIES = (
    dictionary(
        "hrm_leave_unit",
        ("请假单位", "Unit of leave"),
        half=("半天", "Half day"),
        day=("天", "Day"),
        hour=("小时", "Hour"),
    ),
    dictionary(
        "hrm_leave_year",
        ("假期年度", "Year of leave"),
        calendar=("自然年", "Calendar year"),
        employment=("入职周年", "Year of employment"),
    ),
    dictionary(
        "hrm_leave_accrual",
        ("额度发放方式", "Accrual of leave"),
        unlimited=("不限额度", "No limit"),
        manual=("手工发放", "By adjustment"),
        yearly=("按年发放", "Yearly"),
        monthly=("按月发放", "Monthly"),
        overtime=("加班换休", "By overtime"),
    ),
)
_RATE = quantity(minimum="0", maximum="10", required=True, nullable=False, example="1.5")
LEAVE_TYPES: Collection[LeaveType] = Collection(
    name="hrm_leave_types",
    title="LeaveType",
    noun=Message("假期类型", "leave type"),
    default_sort="id",
    watched=True,
    fields={
        "code": text(
            label=("编码", "Code"),
            required=True,
            max_length=32,
            pattern=r"^[a-z][a-z0-9_]*$",
            filter=True,
            example="parental",
            description="The `type` of leave; it never changes.",
        ),
        "name": record_name(label=("名称", "Name"), max_length=100, example="育儿假"),
        "name_en": text(label=("英文名称", "English name"), max_length=100, example="Parental leave"),
        "paid": boolean(label=("带薪", "Paid"), default=True, nullable=False, filter=True),
        "unit": choice(
            *_STEPS,
            label=("请假单位", "Unit"),
            default="half",
            nullable=False,
            description="`day`: whole working days only. `hour`: balances are in hours; otherwise in days.",
        ),
        "accrual": choice(
            *("unlimited", "manual", "yearly", "monthly", "overtime"),
            label=("额度发放方式", "Accrual"),
            default="unlimited",
            nullable=False,
            description="`yearly`: at the beginning of a year or of employment. `monthly`: a twelfth at the end of each "
            "month. `manual`: only adjustments give something. `unlimited`: unless an allowance limits a year. `overtime`: "
            "approved overtime with time off in lieu, as it is worked.",
        ),
        "overtime_rates": obj(
            "LeaveOfOvertime",
            {one.value: _RATE.but(label=one.label) for one in DAY_KIND.items},
            label=("加班换休倍率", "Leave for overtime"),
            description="How many hours an hour of overtime earns, by the kind of day; null: one each.",
        ),
        "amount": quantity(
            label=("每年额度", "Amount per year"),
            minimum="0",
            maximum=_MOST,
            example="10",
            description="In days or hours; required for `yearly` and `monthly`.",
        ),
        "seniority": array(
            obj(
                "LeaveOfSeniority",
                {
                    "years": integer(label=("工龄满（年）", "Years of service"), minimum=0, maximum=60, required=True),
                    "amount": quantity(
                        label=("每年额度", "Amount per year"), minimum="0", maximum=_MOST, required=True
                    ),
                },
            ),
            label=("按工龄的额度", "By seniority"),
            max_items=60,
            default=[],
            nullable=False,
            description="The amounts per year after so many completed years of service, instead of `amount`.",
        ),
        "earlier_service": boolean(
            label=("计入以前工龄", "Earlier service counts"),
            default=False,
            description="Whether years of service count from `service_since` of the employee, where there is one, instead of "
            "the first day of work.",
        ),
        "part_year": boolean(
            label=("不足一年按比例", "Share of a part year"),
            default=True,
            nullable=False,
            description="Whether people who are employed for a part of a year or month earn that part, rounded down to "
            "the unit (hours to half hours).",
        ),
        "year_of": choice(
            "calendar",
            "employment",
            label=("年度", "Year"),
            description="Null is `calendar`. `employment`: years begin on the anniversary of the first day of work, on "
            "which `yearly` leave is earned, and what remains expires or is carried over.",
        ),
        "starts_on": day(
            label=("起算日期", "Starts on"),
            example="2026-01-01",
            description="From when it is earned and carried over. Defaults to the beginning of the current year.",
        ),
        "carry_over": quantity(
            label=("可结转额度", "Carried over at most"),
            minimum="0",
            maximum=_MOST,
            example="5",
            description="What remains at the end of a year and is carried over, at most; null or 0: nothing.",
        ),
        "carry_over_months": integer(
            label=("结转有效期（月）", "Months until it expires"),
            minimum=1,
            maximum=12,
            default=12,
            nullable=False,
            description="After so many months of the new year, what was carried over expires.",
        ),
        "overdraft": quantity(
            label=("可透支额度", "Overdraft"),
            minimum="0",
            maximum=_MOST,
            description="How far below zero a balance may be; what is below lowers the next year.",
        ),
        "evidence_required": boolean(
            label=("须附证明", "Evidence required"),
            default=False,
            nullable=False,
            description="Whether leave can be submitted only with an attachment.",
        ),
        "department_ids": array(
            integer(minimum=1, ref="rbac_departments"),
            label=("适用部门", "For departments"),
            unique=True,
            max_items=200,
            default=[],
            nullable=False,
            description="Whose employees may request it; if empty, everybody. HR may enter it for anybody.",
        ),
        "status": choice(
            "enabled", "disabled", label=("状态", "Status"), default="enabled", nullable=False, filter=True
        ),
        "remark": text(label=("备注", "Remarks"), max_length=500),
    },
    indexes=(Index("code", unique=True),),
)


async def create(req: Request) -> LeaveType:
    """Create a type, whose code leave can have from then on. Raises 40900 if the code exists."""
    values = _complete(req, {**LEAVE_TYPES.defaults, **req.body})

    async def work() -> LeaveType:
        made = await req.store(LEAVE_TYPES).create(values)
        await _name(req, made)
        return made

    return await req.transaction(work)


async def update(req: Request) -> LeaveType:
    """Change a type: balances of all days are computed by the rules of now. The code never changes.

    Raises 40901 for another code, and for a change between days and hours once there is leave or an allowance of it.
    """
    values = dict(req.body)
    version = values.pop("version")

    async def work() -> LeaveType:
        before = await req.store(LEAVE_TYPES).get(req.path["id"])
        if values.get("code", before["code"]) != before["code"]:
            raise ApiError(CONFLICT, CODE_FIXED)
        after = _complete(req, {**before, **values})
        if "hour" in (before["unit"], after["unit"]) and before["unit"] != after["unit"]:
            await _refuse_used(req, before["code"])
        changed = {**values, "starts_on": after["starts_on"]}
        made = await req.store(LEAVE_TYPES).update(before["id"], changed, version=version)
        await _name(req, made)
        return made

    return await req.transaction(work)


def _complete(req: Request, values: Mapping[str, Any]) -> Record:
    """Return the values with the day on which the rules start. Raises 40001 if the amount per year is missing."""
    earned = values["accrual"] in ("yearly", "monthly")
    if earned and values.get("amount") is None:
        raise invalid("amount", "required")
    years = [one["years"] for one in values["seniority"]]
    if len(set(years)) < len(years):
        raise invalid("seniority", "duplicate")
    starts = values.get("starts_on")
    if starts is None and (earned or values["accrual"] in ("manual", "overtime") or exact(values.get("carry_over"))):
        starts = day_of(req.now, req.service.settings.zone).replace(month=1, day=1).isoformat()
    return {**values, "starts_on": starts}


async def _refuse_used(req: Request, code: str) -> None:
    for collection in (LEAVES, ALLOWANCES):
        if await req.system_store(collection).find_one({"type": code}):
            raise ApiError(CONFLICT, UNIT_FIXED)


async def _name(req: Request, type: LeaveType) -> None:
    """Let forms, lists and tables show the type by its name, and offer it while it is enabled."""
    label = Message(type["name"], type["name_en"] or type["name"])
    await put_item(req, LEAVE_TYPE.type, type["code"], label, enabled=type["status"] == "enabled")


async def prepare(service: Service) -> None:
    """Give each item of the dictionary that has none a type without limits: what types of leave were before."""
    known = {one["code"] for one in await service.database.store(LEAVE_TYPES).find({})}
    stored = await service.database.store(STORED_DICTIONARIES).find_one({"type": LEAVE_TYPE.type})
    items = sorted(stored["items"], key=lambda item: int(item["sort"])) if stored else []
    for item in items:
        if item["value"] not in known:
            await service.database.store(LEAVE_TYPES).create(_type_of(item))


async def restore(service: Service, payload: Mapping[str, Any]) -> None:
    """Make the types again after a data reset that included hrm."""
    if "hrm" in payload["modules"]:
        await prepare(service)


RESTORED = Listener(DATA_RESET, restore)


def _type_of(item: Mapping[str, Any]) -> Record:
    names = {"name": item["label"], "name_en": item.get("label_en")}
    of_item = {"code": item["value"], "status": item["status"], "paid": item["value"] not in _UNPAID}
    return {**LEAVE_TYPES.defaults, **names, **of_item}


async def load_types(service: Service) -> dict[str, LeaveType]:
    """Return the types by code, in their order."""
    return {one["code"]: one for one in await service.database.store(LEAVE_TYPES).find({}, sort="id")}


async def find_type(service: Service, code: str) -> LeaveType | None:
    """Return the type with this code, or None."""
    return await service.database.store(LEAVE_TYPES).find_one({"code": code})


def rules_of(type: LeaveType | None) -> Rules:
    """Return how a type is earned; a code that is no type has no limits."""
    if type is None:
        return Rules("unlimited")
    return Rules(
        type["accrual"],
        amount=exact(type["amount"]),
        tiers=[(one["years"], exact(one["amount"])) for one in type["seniority"]],
        part_year=type["part_year"],
        step=_STEPS[type["unit"]],
        since=date.fromisoformat(type["starts_on"]) if type["starts_on"] else None,
        carried=exact(type["carry_over"]),
        carried_months=type["carry_over_months"],
        overdraft=exact(type["overdraft"]),
        anniversary=type["year_of"] == "employment",
    )


def rate_of(type: LeaveType, day_kind: str) -> Decimal:
    """Return how many hours of leave an hour of overtime on such a day earns."""
    rates: Mapping[str, Any] = type["overtime_rates"] or {}
    return exact(rates[day_kind]) if day_kind in rates else Decimal(1)


def is_for(type: LeaveType, employee: Employee | None) -> bool:
    """Return whether an employee may request leave of the type."""
    wanted = type["department_ids"]
    return not wanted or (employee is not None and employee["department_id"] in wanted)


ROUTES: tuple[Route, ...] = crud(
    LEAVE_TYPES,
    at="/api/v1/hrm/leave-types",
    resource="hrm:leave-type",
    only=("list", "read", "create", "update"),
    create=create,
    update=update,
    refusals_of={"update": conflicts(CODE_FIXED, UNIT_FIXED)},
)
