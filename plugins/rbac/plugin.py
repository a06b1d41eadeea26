"""The plugin rbac: users, roles, menus, departments."""

from plugins.api import Authorizer, Message, Plugin
from plugins.rbac import demo, departments, explain, menu_records, menus, roles, tables, users
from plugins.rbac.first_start import prepare
from plugins.rbac.lifespan import start
from plugins.rbac.records import DEPARTMENTS, MENUS, ROLES, USERS
from plugins.rbac.settings import RbacSettings

plugin = Plugin(
    name="rbac",
    title=Message("权限管理", "Access control"),
    settings=RbacSettings,
    provides=(Authorizer,),
    start=start,
    prepare=prepare,
    demo=demo.load,
    collections=(DEPARTMENTS, ROLES, MENUS, USERS),
    routes=(
        *menu_records.ROUTES,
        *roles.ROUTES,
        *users.ROUTES,
        *departments.ROUTES,
        *explain.ROUTES,
        *tables.ROUTES,
    ),
    menus=menus.MENUS,
    emits=(users.SESSIONS_VOID,),
    permissions=menus.PERMISSIONS,
)
