"""Contracts of employees, and the reminders before one of them or a probation ends."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from plugins.api import (
    NOT_FOUND,
    NOTIFY,
    ApiError,
    Collection,
    Index,
    Job,
    Message,
    Page,
    Record,
    Refusal,
    Request,
    Route,
    Service,
    day,
    day_of,
    dictionary,
    integer,
    invalid,
    object_id,
    route,
    text,
    utc_now,
)
from plugins.api.errors import STALE
from plugins.api.fields import NOTHING
from plugins.api.records import FINAL
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.record_types import EmploymentContract
from plugins.hrm.records import EMPLOYEES, REMARK

CONTRACT_ENDS = Message("{name} 的劳动合同将于 {day} 到期", "The contract of {name} ends on {day}")
PROBATION_ENDS = Message("{name} 的试用期将于 {day} 结束", "The probation of {name} ends on {day}")
NO_CONTRACT = Message("该员工没有这份合同", "The employee has no such contract")
CONTRACT_KIND = dictionary(
    "hrm_contract_kind",
    ("合同类型", "Kind of contract"),
    fixed_term=("固定期限", "Fixed term"),
    open_ended=("无固定期限", "Open-ended"),
    project=("以完成一定工作任务为期限", "For a project"),
    internship=("实习", "Internship"),
    service=("劳务", "Service"),
)
# which ends are reminded of: the field, where the reminder of it is noted, and the words
_ENDS = (("to", "reminded_to", CONTRACT_ENDS), ("probation_until", "reminded_probation", PROBATION_ENDS))
_MOST_DAYS = 180
CONTRACTS: Collection[EmploymentContract] = Collection(
    name="hrm_contracts",
    title="EmploymentContract",
    noun=Message("劳动合同", "employment contract"),
    default_sort="-from",
    fields={
        "employee_id": object_id(
            ref=EMPLOYEES.name, on_delete="cascade", label=("员工", "Employee"), read_only=True, nullable=False
        ),
        "number": text(label=("合同编号", "Number"), max_length=64, example="LD-2026-018"),
        "kind": text(
            label=("合同类型", "Kind"),
            default="fixed_term",
            nullable=False,
            min_length=1,
            max_length=64,
            dictionary="hrm_contract_kind",
        ),
        "from": day(label=("起始日期", "From"), required=True, sort=True, example="2026-12-01"),
        "to": day(
            label=("截止日期", "To"),
            example="2029-11-30",
            description="The last day. Needed by a fixed term; an open-ended contract has none.",
        ),
        "probation_until": day(
            label=("试用期至", "Probation until"), example="2027-05-31", description="The last day of probation."
        ),
        "remind_days": integer(
            label=("提前提醒天数", "Reminder, days before"),
            minimum=0,
            maximum=_MOST_DAYS,
            default=30,
            nullable=False,
            description="How many days before `to` and `probation_until` the manager, and who entered the contract, are "
            "notified; 0 for no reminder.",
        ),
        "remark": REMARK,
    },
    indexes=(Index("employee_id", "from"), Index("to"), Index("probation_until")),
    internal=("reminded_to", "reminded_probation"),
)


def _check(contract: ReadOnlyRecord) -> None:
    """Raise 40001 for days out of order, a fixed term without an end, and an open-ended contract with one."""
    to, probation = contract.get("to"), contract.get("probation_until")
    if contract["kind"] == "fixed_term" and to is None:
        raise invalid("to", "required")
    if contract["kind"] == "open_ended" and to is not None:
        raise invalid("to", "invalid")
    if to is not None and to < contract["from"]:
        raise invalid("to", "minimum")
    if probation is not None and not contract["from"] <= probation <= (to or probation):
        raise invalid("probation_until", "minimum" if probation < contract["from"] else "maximum")


async def list_contracts(req: Request) -> Page:
    """Return a page of the contracts of a visible employee."""
    return await req.system_store(CONTRACTS).page(req.query, await _of_employee(req))


async def read(req: Request) -> EmploymentContract:
    """Return a contract of a visible employee."""
    await _of_employee(req)
    return await _find(req)


async def create(req: Request) -> EmploymentContract:
    """Enter a contract of a visible employee."""
    theirs = await _of_employee(req)
    _check({**CONTRACTS.defaults, **req.body})
    return await req.system_store(CONTRACTS).create({**req.body, **theirs})


async def update(req: Request) -> EmploymentContract:
    """Change a contract. An end that is moved is reminded of again."""
    values = dict(req.body)
    version = values.pop("version")
    before = await _find(req)
    _check({**before, **values})
    return await req.system_store(CONTRACTS).update(before["id"], values, version=version)


async def delete(req: Request) -> None:
    """Delete a contract."""
    await req.system_store(CONTRACTS).delete((await _find(req))["id"])


async def _of_employee(req: Request) -> Record:
    employee = await req.store(EMPLOYEES).get(req.path["id"])
    return {"employee_id": employee["id"]}


async def _find(req: Request) -> EmploymentContract:
    theirs = await _of_employee(req)
    found = await req.system_store(CONTRACTS).get(req.path["contract_id"])
    if found["employee_id"] != theirs["employee_id"]:
        raise ApiError(NOT_FOUND)
    return found


async def remind(service: Service) -> None:
    """Notify of the contracts and probations that end soon, once for each end."""
    today = day_of(utc_now(), service.settings.zone)
    soon = {"$gte": today.isoformat(), "$lte": (today + timedelta(days=_MOST_DAYS)).isoformat()}
    for field, noted, words in _ENDS:
        due = {field: soon, "remind_days": {"$gt": 0}, "$expr": {"$ne": [f"${field}", f"${noted}"]}}
        async for row in service.database.store(CONTRACTS).stream({}, due):
            await _remind_of(service, row, field, {noted: row.get(field)}, words, today)


async def _remind_of(
    service: Service, contract: ReadOnlyRecord, field: str, note: Record, words: Message, today: date
) -> None:
    ends = date.fromisoformat(contract[field])
    if (ends - today).days > contract["remind_days"]:
        return

    async def work() -> None:
        still = {"_id": contract["id"], field: contract[field], "remind_days": contract["remind_days"]}
        other = {"$expr": {"$ne": [f"${field}", f"${next(iter(note))}"]}}
        store, employees = service.database.store(CONTRACTS), service.database.store(EMPLOYEES)
        employee = await employees.find_one({"_id": contract["employee_id"]})
        if await store.update_unversioned({**still, **other}, {"$set": note}) is None or employee is None:
            return
        if employee["left_on"] is not None and employee["left_on"] <= contract[field]:
            return
        manager = await employees.find_one({"_id": employee["manager_id"]}) if employee["manager_id"] else None
        people = {contract["creator_id"], manager["user_id"] if manager is not None else None} - {None, 0}
        about: Mapping[str, Any] = {
            "link": f"/hrm/employees/{employee['id']}",
            "data": {"employee_id": str(employee["id"])},
        }
        title = words.filled(name=employee["name"], day=contract[field])
        message = {"kind": "employment_reminder", "title": title, "body": None, **about}
        await service.events.emit(NOTIFY, {"user_ids": sorted(people), **message})

    await service.database.transaction(work)


REMINDING = Job("hrm.reminders", 3600, remind, Message("提醒合同和试用期到期", "Remind of contracts that end"))
_NONE = Refusal(NOT_FOUND, hint=NO_CONTRACT)
_ACCESS = "hrm:employee:contract"
ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/hrm/employees/{id}/contracts",
        list_contracts,
        summary="List the contracts of an employee",
        title=("劳动合同", "Employment contracts"),
        access=_ACCESS,
        query=CONTRACTS.list_query,
        returns=CONTRACTS.read,
        paged=True,
        collection=EMPLOYEES.name,
    ),
    route(
        "GET /api/v1/hrm/employees/{id}/contracts/{contract_id}",
        read,
        summary="Show a contract of an employee",
        access=_ACCESS,
        returns=CONTRACTS.read,
        refusals=(_NONE,),
    ),
    route(
        "POST /api/v1/hrm/employees/{id}/contracts",
        create,
        summary="Enter a contract of an employee",
        access=_ACCESS,
        body=CONTRACTS.create,
        returns=CONTRACTS.read,
        collection=EMPLOYEES.name,
    ),
    route(
        "PATCH /api/v1/hrm/employees/{id}/contracts/{contract_id}",
        update,
        summary="Change a contract of an employee",
        access=_ACCESS,
        body=CONTRACTS.update,
        returns=CONTRACTS.read,
        errors=(STALE,),
        refusals=(_NONE,),
    ),
    route(
        "DELETE /api/v1/hrm/employees/{id}/contracts/{contract_id}",
        delete,
        summary="Delete a contract of an employee",
        access=_ACCESS,
        returns=NOTHING,
        refusals=(_NONE,),
        description=FINAL,
    ),
)
