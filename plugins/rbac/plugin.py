"""The plugin rbac: users, roles, menus, departments."""

from plugins.api import Job, Message, Plugin, routes_of
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
    menus,
    rehearsal,
    roles,
    tables,
    users,
)
from plugins.rbac.dictionaries import DICTIONARIES
from plugins.rbac.first_start import prepare
from plugins.rbac.handover_records import HANDOVERS
from plugins.rbac.lifespan import start
from plugins.rbac.records import DEPARTMENTS, MENUS, ROLES, USERS
from plugins.rbac.settings import RbacSettings

_HANDOVERS = Message("继续中断的工作交接", "Resume handovers")

plugin = Plugin(
    name="rbac",
    title=Message("权限管理", "Access control"),
    settings=RbacSettings,
    provides=(Authorizer, Departments),
    start=start,
    prepare=prepare,
    demo=demo.load,
    collections=(DEPARTMENTS, ROLES, MENUS, USERS, HANDOVERS),
    holdings=(Holding(DEPARTMENTS, "leader_user_id", decides=True),),
    jobs=(Job("rbac.handovers", "handover_resume_seconds", handover_running.resume, _HANDOVERS),),
    routes=routes_of(menu_records, roles, users, handovers, departments, explain, rehearsal, matrix, tables),
    dictionaries=DICTIONARIES,
    menus=menus.MENUS,
    emits=(users.SESSIONS_VOID,),
    permissions=menus.PERMISSIONS,
)
