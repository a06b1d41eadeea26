"""Takes over departments and people from WeCom's directory: tried first, and repeatable.

The same directory changes nothing the second time. Departments are never deleted, roles never changed, and who is not in
the directory any more is disabled only if that is asked for.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plugins.api import (
    CONFLICT,
    ApiError,
    Collection,
    Refusal,
    Request,
    Route,
    array,
    boolean,
    choice,
    conflicts,
    integer,
    route,
    shape,
    text,
)
from plugins.api.data import undone
from plugins.api.errors import SUPER_ONLY, unavailable
from plugins.api.values import Language
from plugins.auth import wecom_accounts
from plugins.auth.errors import WECOM_BY_SUPER, WECOM_NO_DIRECTORY, WECOM_REFUSED, WECOM_TOO_LARGE
from plugins.auth.wecom import require_settings
from plugins.auth.wecom_client import WecomClient, WecomUnavailable
from plugins.auth.wecom_tokens import CorpToken
from plugins.rbac.api import (
    DEPARTMENTS,
    SESSIONS_VOID,
    USERS,
    Passwords,
    add_department,
    change_department,
    change_tree,
    credentials,
)

MOST_DEPARTMENTS, MOST_PEOPLE = 500, 2_000
_AT_ONCE = 8  # requests to WeCom
_GONE = (2, 5)  # the states of members who are disabled, or have left
_E_MAIL, _MOBILE = re.compile(r"^[^@\s]{1,64}@[^@\s]{1,120}\.[^@\s]{2,}$"), re.compile(r"^\+?[0-9 -]{5,20}$")
# which department is which one of WeCom, whose numbers are the ids
WECOM_DEPARTMENTS = Collection(
    name="auth_wecom_departments",
    title="WecomDepartment",
    plain=True,
    ids="text",
    default_sort="department_id",
    fields={"department_id": integer(nullable=False, ref="rbac_departments", on_delete="keep", sort=True)},
)
_CHANGE = choice("created", "linked", "changed", "left", "disabled", nullable=False, label=("变更", "Change"))
IMPORT_BODY = shape(
    "WecomImportBody",
    apply=boolean(
        default=False, label=("写入", "Apply"), description="Without it, only what would change is returned."
    ),
    disable_left=boolean(
        default=False,
        label=("停用已离开的人员", "Disable who left"),
        description="Disable the accounts linked to members who are not in the directory any more.",
    ),
)
IMPORTED = shape(
    "WecomImport",
    applied=boolean(label=("已写入", "Applied"), nullable=False),
    departments=array(
        shape(
            "WecomImportDepartment",
            wecom_id=integer(label=("企业微信编号", "WeCom number"), nullable=False),
            name=text(label=("部门", "Department"), nullable=False),
            change=_CHANGE,
        ),
        label=("部门", "Departments"),
        max_items=MOST_DEPARTMENTS,
        nullable=False,
        description="Those that change; `left` are not in the directory any more, and stay.",
    ),
    people=array(
        shape(
            "WecomImportPerson",
            wecom_user_id=USERS.fields["wecom_user_id"].but(nullable=False),
            name=text(label=("姓名", "Name"), nullable=False),
            change=_CHANGE,
            fields=array(
                text(nullable=False), nullable=False, named_by="field_names", description="What changes of the account."
            ),
            field_names=array(
                text(nullable=False), label=("变更内容", "Changes"), nullable=False, description="Their labels."
            ),
        ),
        label=("人员", "People"),
        nullable=False,
        description="Those that change: `linked`, an account of that name is bound to the member; `left` are not in the "
        "directory any more, and `disabled` if that was asked for.",
    ),
)


@dataclass
class _Directory:
    """What WeCom's directory says: departments, parents first, and members by id with their department."""

    departments: list[dict[str, Any]]
    members: dict[str, dict[str, Any]]


@dataclass
class _Report:
    language: Language
    departments: list[dict[str, Any]] = field(default_factory=list)
    people: list[dict[str, Any]] = field(default_factory=list)

    def department(self, id: int, name: str, change: str) -> None:
        self.departments.append({"wecom_id": id, "name": name, "change": change})

    def person(self, member: str, name: str, change: str, fields: Sequence[str] = ()) -> None:
        changed = sorted(fields)
        told = [label.text(self.language) for one in changed if (label := USERS.fields[one].label) is not None]
        self.people.append(
            {"wecom_user_id": member, "name": name, "change": change, "fields": changed, "field_names": told}
        )


async def take_over(req: Request) -> dict[str, Any]:
    """Take over the directory as a whole, or say what that would change. Raises 40011, 40302, 40901, 50300.

    The accounts that it makes have the roles of the setting `wecom_default_role` and a password that nobody knows.
    """
    if not req.actor.is_super:
        raise ApiError(SUPER_ONLY, WECOM_BY_SUPER)
    require_settings(req)
    try:
        directory = await _read_directory(req)
    except WecomUnavailable as error:
        raise unavailable() from error
    if not directory.departments:
        raise ApiError(WECOM_REFUSED, WECOM_NO_DIRECTORY)
    secret = req.part(Passwords)
    unknown = credentials(secret, await secret.hash(secret.make()))

    async def work() -> _Report:
        report = _Report(req.language)
        places = await _take_departments(req, directory, report)
        await _take_people(req, directory, places, unknown, report)
        return report

    async def exclusive() -> _Report:
        return await change_tree(req, DEPARTMENTS, work)

    applies = bool(req.body.get("apply"))
    done = await exclusive() if applies else await undone(req.service.database, exclusive)
    return {"applied": applies, "departments": done.departments, "people": done.people}


async def _read_directory(req: Request) -> _Directory:
    """Return WeCom's directory. Raises `WecomUnavailable`, and 40901 if it is too large."""
    tokens, client = req.part(CorpToken), req.part(WecomClient)
    listed = await tokens.used_for("department/list", client.departments)
    if len(listed) > MOST_DEPARTMENTS:
        raise ApiError(CONFLICT, WECOM_TOO_LARGE)
    departments = _parents_first(listed)
    members: dict[str, dict[str, Any]] = {}
    for start in range(0, len(departments), _AT_ONCE):
        ids = [one["id"] for one in departments[start : start + _AT_ONCE]]
        found_at = await asyncio.gather(*(tokens.used_for("user/list", _members_of(client, id)) for id in ids))
        for id, found in zip(ids, found_at, strict=True):
            for one in found:
                members.setdefault(one["userid"], {**one, "department": one.get("main_department") or id})
        if len(members) > MOST_PEOPLE:
            raise ApiError(CONFLICT, WECOM_TOO_LARGE)
    return _Directory(departments, {id: one for id, one in members.items() if one.get("status") not in _GONE})


def _members_of(client: WecomClient, department: int) -> Callable[[str], Awaitable[list[dict[str, Any]]]]:
    return lambda token: client.members(token, department)


def _parents_first(listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the departments in an order in which each follows its parent; those of a ring are left out."""
    known, waiting, ordered = {one["id"] for one in listed}, sorted(listed, key=lambda one: one["id"]), []
    placed: set[int] = set()
    while ready := [one for one in waiting if one["parentid"] not in known or one["parentid"] in placed]:
        ordered += ready
        placed |= {one["id"] for one in ready}
        waiting = [one for one in waiting if one["id"] not in placed]
    return ordered


async def _take_departments(req: Request, directory: _Directory, report: _Report) -> dict[int, int]:
    """Create, rename and move departments; return our id by WeCom's."""
    links, places = req.system_store(WECOM_DEPARTMENTS), dict[int, int]()
    linked = {int(row["id"]): row["department_id"] for row in await links.find()}
    ours = {one["id"]: one for one in await req.store(DEPARTMENTS).find()}
    for one in directory.departments:
        id, name = one["id"], _plain(one["name"])
        values = {"name": name, "parent_id": places.get(one["parentid"])}
        mine = ours.get(linked.get(id, 0))
        if mine is None:  # the first time, a department of that name in that place is taken for it
            taken = {*linked.values(), *places.values()}
            alike = (own for own in ours.values() if own["id"] not in taken)
            mine = next((own for own in alike if _has(own, values)), None)
            change = "created" if mine is None else "linked"
            mine = await add_department(req, values) if mine is None else mine
            await links.upsert(str(id), {"department_id": mine["id"]})
            report.department(id, name, change)
        elif not _has(mine, values):
            await change_department(req, mine["id"], values, None)
            report.department(id, name, "changed")
        places[id] = mine["id"]
    for id, own in linked.items():
        if id not in places and own in ours:
            report.department(id, ours[own]["name"], "left")
    return places


def _has(record: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    return all(record[name] == value for name, value in values.items())


async def _take_people(
    req: Request, directory: _Directory, places: Mapping[int, int], unknown: Mapping[str, Any], report: _Report
) -> None:
    """Create, link and change the accounts of the members, and find those whose members have left."""
    users = req.system_store(USERS)
    accounts = await users.find({"service": {"$ne": True}})
    bound = {one["wecom_user_id"]: one for one in accounts if one["wecom_user_id"]}
    named: dict[str, list[dict[str, Any]]] = {}
    for one in accounts:
        named.setdefault(one["username"].lower(), []).append(one)
    for member, one in directory.members.items():
        values = _values_of(one, places)
        mine, change = bound.get(member), "changed"
        if mine is None:
            alike = [each for each in named.get(member.lower(), ()) if wecom_accounts.may_be_linked(each)]
            mine, change = (alike[0] if len(alike) == 1 else None), "linked"
            values["wecom_user_id"] = member
        if mine is None:
            await wecom_accounts.create_account(req, member, {**values, **unknown})
            report.person(member, values["real_name"], "created", [*values])
            continue
        changed = {name: value for name, value in values.items() if mine[name] != value}
        if changed:
            await users.update(mine["id"], changed)
            report.person(member, values["real_name"], change, [*changed])
    for member, mine in bound.items():
        if member not in directory.members and mine["status"] == "enabled":
            await _leave(req, member, mine, report)


async def _leave(req: Request, member: str, account: Mapping[str, Any], report: _Report) -> None:
    """Disable who has left, if that is asked for; never a super administrator, such as the caller."""
    disabled = bool(req.body.get("disable_left")) and not account["is_super"]
    if disabled:
        await req.system_store(USERS).update(account["id"], {"status": "disabled"})
        await req.emit(SESSIONS_VOID, user_id=account["id"], reason="disabled")
    report.person(member, account["real_name"] or account["username"], "disabled" if disabled else "left")


def _values_of(member: Mapping[str, Any], places: Mapping[int, int]) -> dict[str, Any]:
    """Return what an account takes over of a member; what WeCom hides from the application stays as it is."""
    values: dict[str, Any] = {"real_name": _plain(member["name"])}
    if (place := places.get(member["department"])) is not None:
        values["department_id"] = place
    for name, form in (("email", _E_MAIL), ("mobile", _MOBILE)):
        value = member.get(name)
        if isinstance(value, str) and form.match(value):
            values[name] = value
    return values


def _plain(name: str) -> str:
    """Return a name without what cannot be shown, cut to what the record holds."""
    return "".join(one for one in name if one.isprintable()).strip()[:100] or "-"


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/auth/wecom/directory",
        take_over,
        summary="Take over departments and people from WeCom, or say what that would change",
        title=("同步企业微信通讯录", "Take over from WeCom"),
        access="system:user:take-over",
        body=IMPORT_BODY,
        returns=IMPORTED,
        errors=(WECOM_REFUSED,),
        refusals=(Refusal(SUPER_ONLY, WECOM_BY_SUPER, exempt_super=True), *conflicts(WECOM_TOO_LARGE)),
    ),
)
