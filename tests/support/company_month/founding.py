"""What an administrator sets up before the month: departments, roles, accounts, master data, flows and shifts."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from plugins.testing import PASSWORD, Client, People, expect
from tests.support.company_month.company import Company
from tests.support.company_month.dates import Dates
from tests.support.company_month.ledger import Stock
from tests.support.company_month.recorder import Recorder, User
from tests.support.company_month.staff import DEPARTMENTS, ROLES, STAFF

SYSTEM, HRM, INVENTORY = "/api/v1/system", "/api/v1/hrm", "/api/v1/inventory"
OFFICE = {"lng": 121.4737, "lat": 31.2304}
MAIN, SPARES = "主仓", "备件仓"
BRACKET, BEARING = "支架", "轴承"
STEEL, BEARINGS = "华东金属", "精工轴承"
SALES = ("wang", "li", "zhao", "sun", "zhou", "wu", "zheng", "feng")


async def found(admin: Client, dates: Dates) -> Company:
    """Set up the company, and log everybody in."""
    departments = await _departments(admin)
    roles = await _roles(admin)
    users = await _users(admin, departments, roles)
    recorder = Recorder()
    company = Company(
        dates,
        {who: User(who, await admin.log_in(who), recorder) for who in STAFF},
        departments,
        roles,
        recorder,
    )
    await _leaders(admin, departments, users)
    await _masters(admin, company)
    await _flows(admin, company)
    await _employees(admin, company)
    return company


async def _departments(admin: Client) -> dict[str, int]:
    made: dict[str, int] = {}
    for name, (above, _) in DEPARTMENTS.items():
        made[name] = await _create(admin, f"{SYSTEM}/departments", name=name, parent_id=above and made[above])
    return made


async def _roles(admin: Client) -> dict[str, int]:
    menus, made = await People(admin).menus(), {}
    for code, role in ROLES.items():
        made[code] = await _create(
            admin, f"{SYSTEM}/roles", code=code.replace(" ", "-"), name=code, data_scope=role.scope
        )
        granted = [
            menu["id"] for menu in menus if any(fnmatchcase(menu["permission"] or "", one) for one in role.permissions)
        ]
        expect(await admin.put(f"{SYSTEM}/roles/{made[code]}/menus", {"menu_ids": granted}))
    return made


async def _users(admin: Client, departments: dict[str, int], roles: dict[str, int]) -> dict[str, int]:
    return {
        who: await _create(
            admin,
            f"{SYSTEM}/users",
            username=who,
            real_name=person.name,
            password=PASSWORD,
            must_change_password=False,
            department_id=departments[person.department],
            role_ids=[roles[role] for role in ("everybody", *person.roles)],
        )
        for who, person in STAFF.items()
    }


async def _leaders(admin: Client, departments: dict[str, int], users: dict[str, int]) -> None:
    for name, (_, leader) in DEPARTMENTS.items():
        at = f"{SYSTEM}/departments/{departments[name]}"
        version = expect(await admin.get(at))["version"]
        expect(await admin.patch(at, {"version": version, "leader_user_id": users[leader]}))


async def _masters(admin: Client, company: Company) -> None:
    for sku, name, price, cost in (("P-1", BRACKET, "100.00", "60.00"), ("P-2", BEARING, "40.50", "22.25")):
        company.ids[name] = await _create(admin, f"{INVENTORY}/products", sku=sku, name=name, price=price, cost=cost)
    for code, name, keepers in (("W-1", MAIN, ()), ("W-2", SPARES, ("qin",))):
        ids = [company[who].id for who in keepers]
        company.ids[name] = await _create(admin, f"{INVENTORY}/warehouses", code=code, name=name, keeper_ids=ids)
        company.ledger.stock[name], company.ledger.keepers[name] = Stock(), frozenset(keepers)
    for code, name in (("S-1", STEEL), ("S-2", BEARINGS)):
        await _create(admin, f"{INVENTORY}/suppliers", code=code, name=name)
    for code, name, type in (("1001", "库存现金", "cash"), ("1002", "基本户", "bank")):
        await _create(admin, "/api/v1/finance/accounts", code=code, name=name, type=type)


async def _flows(admin: Client, company: Company) -> None:
    leader = {"key": "leader", "name": "部门负责人", "approvers": {"initiator_leader": 1}}
    legal, owner, accounting = (
        {"key": who, "name": name, "approvers": {"users": [company[who].id]}}
        for who, name in (("zhang", "法务"), ("chen", "总经理"), ("xu", "财务"))
    )
    for biz_type, nodes, least in (
        ("CONTRACT", [leader, legal], "100000.00"),
        ("CONTRACT", [leader], None),
        ("PURCHASE_ORDER", [leader, owner], "50000.00"),
        ("PURCHASE_ORDER", [leader], None),
        ("EXPENSE", [leader, accounting], None),
        ("LEAVE", [leader], None),
    ):
        large = [{"field": "amount", "op": "gte", "value": least}] if least else []
        await _create(
            admin,
            "/api/v1/approvals/definitions",
            name=f"{biz_type} {least or ''}",
            biz_type=biz_type,
            conditions=large,
            nodes=nodes,
            priority=10 if least else 100,
            copies={"users": [company["shi"].id]} if biz_type == "LEAVE" else {},
        )


async def _employees(admin: Client, company: Company) -> None:
    """Everybody but the newcomer. Those in sales work in the afternoon, kong and zhang in the office."""
    place = await _create(admin, f"{HRM}/places", name="总部", location=OFFICE, radius=300)
    groups = {}
    for name, start, end in (("行政班", "09:00", "18:00"), ("销售班", "13:00", "21:00")):
        shift = await _create(admin, f"{HRM}/shifts", name=name, start=start, end=end, grace_minutes=5)
        groups[name] = await _create(
            admin,
            f"{HRM}/attendance-groups",
            name=name,
            shift_id=shift,
            working_days=[1, 2, 3, 4, 5, 6, 7],
            place_ids=[place],
        )
    await _create(admin, f"{HRM}/positions", name="行政专员")
    attendance = dict.fromkeys(SALES, ("销售班", 0)) | {"kong": ("行政班", 5), "zhang": ("行政班", 2)}
    for who, person in STAFF.items():
        if who == "cao":
            continue
        group, since = attendance.get(who, ("", 0))
        attends = {"attendance_group_id": groups[group], "attends_from": company.dates.day(since)} if group else {}
        company.ids[f"employee {who}"] = await _create(
            admin,
            f"{HRM}/employees",
            name=person.name,
            user_id=company[who].id,
            department_id=company.departments[person.department],
            hired_on=company.dates.day(400),
            **attends,
        )
        employee = company.ledger.note("employee", who, hired=company.dates.day(400), left=None)
        company.ledger.employees[who] = employee


async def _create(admin: Client, path: str, **body: Any) -> Any:
    return expect(await admin.post(path, body))["id"]
