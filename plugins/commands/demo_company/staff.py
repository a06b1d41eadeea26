"""The people of the demonstration company: departments, accounts, employees, and when they come and go."""

from __future__ import annotations

import secrets
from datetime import datetime, time, timedelta

from handlers.schema.calendar import day_of
from handlers.schema.values import Record
from plugins.commands.demo_company import names
from plugins.commands.demo_company.year import HRM, SYSTEM, Year
from plugins.rbac.directory import Directory
from plugins.rbac.records import DEPARTMENTS

_ATTENDED = 42  # days


async def organise(year: Year) -> None:
    """Create departments, accounts, and who sells."""
    directory = year.service.part(Directory)
    year.departments = {one["code"]: one["id"] for one in await _find_departments(year)}
    for name, code, above in names.DEPARTMENTS:
        body = {"name": name, "code": code, "parent_id": year.departments[above]}
        year.departments[code] = (await year.send(f"POST {SYSTEM}/departments", body=body))["id"]
    roles = {one["code"]: one["id"] for one in await year.rows(f"{SYSTEM}/roles")}
    for username, name, role, department in names.ACCOUNTS:
        body = {
            "username": username,
            "real_name": name,
            "password": f"{secrets.token_urlsafe(16)}-aZ7",  # nobody logs in with it
            "role_ids": [roles[role]],
            "department_id": year.departments[department],
        }
        made = await year.send(f"POST {SYSTEM}/users", body=body)
        actor = await directory.actor_of(made["id"])
        if actor is not None:
            year.people[username] = actor
    year.sellers = [year.people[name] for name in ("sales", "chen.xiaoyan", "lin.zhiqiang", "huang.lijun")]


async def _find_departments(year: Year) -> list[Record]:
    return await year.service.database.store(DEPARTMENTS).find()


async def employ(year: Year) -> None:
    """Create positions and employees."""
    for name in ("仓库管理员", "采购专员", "会计", "技术支持工程师"):
        await year.send(f"POST {HRM}/positions", body={"name": name})
    known = {one["name"]: one["id"] for one in await year.rows(f"{HRM}/positions")}
    of = {"warehouse": "仓库管理员", "purchasing": "采购专员", "finance": "会计", "support": "技术支持工程师"}
    group = (await year.rows(f"{HRM}/attendance-groups"))[0]["id"]
    accounts = [(name, code, 20, year.people[user].user_id) for user, name, _, code in names.ACCOUNTS]
    for number, (name, code, months, user_id) in enumerate(
        [*accounts, *((*one, None) for one in names.EMPLOYEES)], 101
    ):
        body = {
            "number": f"E-{number:04}",
            "name": name,
            "user_id": user_id,
            "department_id": year.departments[code],
            "position_id": known[of.get(code, "销售代表" if code.startswith("sales") else "行政专员")],
            "hired_on": year.day(months * 30),
            "phone": f"139{number:04}{year.chance.randrange(10**4):04}",
            "attendance_group_id": group,
            "attends_from": year.day(_ATTENDED),
        }
        year.employees.append(await year.send(f"POST {HRM}/employees", body=body))


async def attend(year: Year) -> None:
    """Enter what the time recorder at the gate noted, and the leave of some."""
    for number, employee in enumerate(year.employees):
        away = year.day(3 + number) if number % 4 == 1 else ""
        if away:
            leave = {"employee_id": employee["id"], "type": "sick" if number % 8 == 1 else "personal"}
            leave |= {**year.hours(3 + number), "reason": "身体不适" if number % 8 == 1 else "家中有事"}
            await year.send(f"POST {HRM}/leaves/enter", body=leave)
        for ago in range(_ATTENDED, 0, -1):
            day = day_of(year.now, year.zone) - timedelta(days=ago)
            if day.isoweekday() > 5 or day.isoformat() == away:
                continue
            for hour, minutes in ((9, year.chance.gauss(-9, 7)), (18, year.chance.gauss(14, 12))):
                at = datetime.combine(day, time(hour), year.zone) + timedelta(minutes=int(minutes))
                body = {"employee_id": employee["id"], "at": at.astimezone(year.now.tzinfo), "reason": "考勤机"}
                await year.send(f"POST {HRM}/punches/enter", body=body)
