"""Leave belongs to the employee; `user_id` of leave is the account that the employee has."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import partial

from plugins.api import Record, Service
from plugins.api.data import Migration, Stage
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.attendance_records import PUNCHES
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.record_types import Employee
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.request_records import REQUESTS
from plugins.hrm.results import mark_stale, reconcile_soon
from plugins.hrm.roster_records import ROSTERS

log = logging.getLogger("tradewind.hrm")


async def adopt(service: Service, employee: ReadOnlyRecord) -> None:
    """Give an employee the leave that their account requested before it belonged to an employee."""
    if employee["user_id"] is not None:
        theirs = {"employee_id": employee["id"], "employee_name": employee["name"]}
        requested = {"employee_id": None, "user_id": employee["user_id"]}
        await service.database.store(LEAVES).update_many(requested, {"$set": theirs})


async def follow_account(service: Service, before: Employee, employee: Employee) -> None:
    """Let the leave, requests and rosters of an employee be seen by the account that they have now, within the transaction."""
    if before["user_id"] == employee["user_id"]:
        return
    await adopt(service, before)
    account = {"$set": {"user_id": employee["user_id"]}}
    for theirs in (LEAVES, REQUESTS, ROSTERS):
        await service.database.store(theirs).update_many({"employee_id": employee["id"]}, account)
    await adopt(service, employee)


def _stages(service: Service) -> Iterator[Stage]:
    yield Stage(LEAVES, partial(_assign, service), {"employee_id": None})


OWNERS = Migration(
    "2026-11-leave-of-employees",
    "Gives older leave its employee: by the account's punches before the request, else whoever has the account now.",
    _stages,
)


async def _assign(service: Service, rows: Sequence[Record]) -> int:
    """Give leave its employee; leave of accounts that never belonged to an employee stays, and is logged."""
    changed = 0
    for leave in rows:
        changed += await service.database.transaction(partial(_assign_one, service, leave))
    reconcile_soon(service)
    return changed


async def _assign_one(service: Service, leave: ReadOnlyRecord) -> int:
    punched = {"user_id": leave["user_id"], "at": {"$lte": leave["created_at"]}}
    last = await service.database.store(PUNCHES).find(punched, sort="-at", limit=1)
    found = {"_id": last[0]["employee_id"]} if last else {"user_id": leave["user_id"]}
    employee = await service.database.store(EMPLOYEES).find_one(found)
    if employee is None:
        log.warning("leave has no known employee", extra={"leave_id": str(leave["_id"])})
        return 0
    values = {"employee_id": employee["id"], "employee_name": employee["name"], "user_id": employee["user_id"]}
    still = {"_id": leave["_id"], "employee_id": None}
    await mark_stale(service, employee["id"])
    return int(await service.database.store(LEAVES).update_unversioned(still, {"$set": values}) is not None)
