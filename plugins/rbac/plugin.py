"""The plugin rbac: users, roles, menus, departments."""

from plugins.api import Job, Message, Plugin, View, routes_of, tables
from plugins.api.ports import Authorizer, Departments
from plugins.api.records import Holding
from plugins.rbac import (
    demo,
    departments,
    explain,
    handover_running,
    handovers,
    matrix,
    menu_records,
    rehearsal,
    roles,
    service_accounts,
    service_keys,
    texts,
    users,
)
from plugins.rbac.handover_records import HANDOVERS
from plugins.rbac.lifespan import prepare, start
from plugins.rbac.passwords import RbacSettings
from plugins.rbac.records import DEPARTMENTS, MENUS, ROLES, SERVICE_KEYS, USERS
from plugins.rbac.texts import DICTIONARIES

_HANDOVERS = Message("继续中断的工作交接", "Resume handovers")

# departments of a scope only where it has some; home pages among the menus
VIEWS = (
    View(ROLES, widgets={"data_scope_department_ids": {"visibleOn": "${data_scope == 'custom'}"}}),
    View(USERS, widgets={"home_path": {"type": "menu-path"}}),
)
plugin = Plugin(
    name="rbac",
    title=Message("权限管理", "Access control"),
    settings=RbacSettings,
    provides=(Authorizer, Departments),
    start=start,
    prepare=prepare,
    demo=demo.load,
    collections=(DEPARTMENTS, ROLES, MENUS, USERS, SERVICE_KEYS, HANDOVERS),
    holdings=(Holding(DEPARTMENTS, "leader_user_id", decides=True),),
    jobs=(Job("rbac.handovers", "handover_resume_seconds", handover_running.resume, _HANDOVERS),),
    routes=(
        *routes_of(menu_records, roles, users, service_accounts, service_keys),
        *routes_of(handovers, departments, explain, rehearsal, matrix),
        # no import of users: a new account needs a password, which no table should contain
        *tables(USERS, at="/api/v1/system/users", resource="system:user", only=("export",)),
        *tables(DEPARTMENTS, at="/api/v1/system/departments", resource="system:department"),
    ),
    dictionaries=DICTIONARIES,
    menus=texts.MENUS,
    views=VIEWS,
    emits=(users.SESSIONS_VOID,),
    permissions=texts.PERMISSIONS,
)
