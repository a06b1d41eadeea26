"""Users, roles, menus, departments."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import (
    NOT_FOUND,
    SIGNED_IN,
    STALE,
    SUPER_ONLY,
    Authorizer,
    Menu,
    Message,
    Plugin,
    Refusal,
    Service,
    array,
    conflicts,
    crud,
    integer,
    obj,
    route,
    text,
)  # fmt: skip
from plugins.rbac import demo, departments, explain, menus, messages, roles, users
from plugins.rbac.directory import Directory
from plugins.rbac.explain_shapes import EXPLANATION, QUERY
from plugins.rbac.first_start import prepare
from plugins.rbac.limits import MANAGING, not_held
from plugins.rbac.passwords import Passwords
from plugins.rbac.policy import Policy
from plugins.rbac.records import DEPARTMENTS, MAX_MENUS, MENU_NODE, MENUS, ROLES, USERS
from plugins.rbac.settings import RbacSettings

AT = "/api/v1/system"
MENU_IDS = obj(
    "RoleMenusBody",
    {
        "menu_ids": array(integer(minimum=1), max_items=MAX_MENUS, required=True, ref="rbac_menus"),
        "version": integer(minimum=1, description="The version of the role; checked when given."),
    },
    nullable=False,
)
NEW_PASSWORD = obj("NewPassword", {"password": text(nullable=False)}, nullable=False)


_ROLE_CHANGES = not_held(messages.WIDER_MENUS, messages.WIDER_SCOPE, messages.HOLDERS_BEYOND)
_ROLE_RIGHTS = (*_ROLE_CHANGES, *not_held(messages.NO_GRANTING))
_USER_RIGHTS = (
    *not_held(messages.WIDER_MENUS, messages.WIDER_SCOPE, messages.DEPARTMENT_OUTSIDE),
    *MANAGING,
    Refusal(SUPER_ONLY, messages.SUPER_BY_SUPER, spares_super=True),
)
_MENU_RIGHTS = (
    *not_held(messages.WIDER_APIS, messages.MENU_NOT_HELD),
    *_ROLE_CHANGES,
    Refusal(SUPER_ONLY, messages.MENU_CODE, spares_super=True),
)
_DEPARTMENT_RIGHTS = (*not_held(messages.DEPARTMENT_OUTSIDE), *MANAGING)
# what nobody may do, super administrators neither
_UNTOUCHED = conflicts(messages.USER_ONE, messages.OWN_DELETE, messages.LAST_SUPER)
_MENU_STATES = conflicts(
    messages.MENU_DECLARED, messages.MENU_HAS_CHILDREN, messages.UNDER_BUTTON, messages.UNDER_ITSELF
)
_DEPARTMENT_STATES = conflicts(messages.DEPARTMENT_HAS_CHILDREN, messages.DEPARTMENT_HAS_PEOPLE, messages.UNDER_ITSELF)
_OWN_PASSWORD = conflicts(messages.OWN_PASSWORD)


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Offer the policy, the directory and the hashing threads."""
    policy = Policy(service.database)
    passwords = Passwords(service.settings_of(RbacSettings))
    service.provide(Authorizer, policy)
    service.provide(Policy, policy)
    service.provide(Directory, Directory(service.database, policy))
    service.provide(Passwords, passwords)
    yield
    passwords.close()


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
        route(f"GET {AT}/menus", menus.own_tree, summary="The menus of the caller", access=SIGNED_IN, tag="system",
              returns=array(MENU_NODE, max_items=1000, nullable=False)),
        route(f"GET {AT}/menus/all", menus.whole_tree, summary="All menu records as a tree", access="system:menu:list",
              returns=array(MENUS.tree, max_items=5000, nullable=False), tag="system", collection=MENUS.name),
        *crud(MENUS, at=f"{AT}/menus", resource="system:menu", noun="menu", only=("create", "update", "delete"),
              create=menus.create, update=menus.update, delete=menus.delete,
              refusals=(*_MENU_RIGHTS, *_MENU_STATES)),
        *crud(ROLES, at=f"{AT}/roles", resource="system:role", noun="role", list=roles.list_roles,
              read=roles.read, create=roles.create, update=roles.update, delete=roles.delete,
              refusals=(*_ROLE_RIGHTS, *conflicts(messages.ROLE_HELD))),
        route(f"PUT {AT}/roles/{{id}}/menus", roles.set_menus, summary="Grant menus to a role", access="system:role:grant",
              body=MENU_IDS, returns=ROLES.read, errors=(STALE,), tag="system", collection=ROLES.name, refusals=_ROLE_RIGHTS),
        *crud(USERS, at=f"{AT}/users", resource="system:user", noun="user", list=users.list_users,
              create=users.create, update=users.update, delete=users.delete,
              refusals=(*_USER_RIGHTS, *_UNTOUCHED, *_OWN_PASSWORD)),
        route(f"POST {AT}/users/{{id}}/reset-password", users.reset_password, summary="Give a user a new password",
              access="system:user:reset-password", returns=NEW_PASSWORD, tag="system", collection=USERS.name,
              errors=(STALE,), refusals=(*MANAGING, *_OWN_PASSWORD)),
        route(f"POST {AT}/users/{{id}}/unlock", users.unlock, summary="Unlock a user", access="system:user:unlock",
              tag="system", collection=USERS.name, refusals=MANAGING),
        route(f"GET {AT}/departments", departments.tree, summary="All departments as a tree",
              access="system:department:list", returns=array(DEPARTMENTS.tree, max_items=5000, nullable=False),
              tag="system", collection=DEPARTMENTS.name),
        *crud(DEPARTMENTS, at=f"{AT}/departments", resource="system:department", noun="department",
              only=("read", "create", "update", "delete"), create=departments.create,
              update=departments.update, delete=departments.delete,
              refusals=(*_DEPARTMENT_RIGHTS, *_DEPARTMENT_STATES)),
        route(f"GET {AT}/authorization/explain", explain.explain, summary="Why a user may or may not do something",
              access="system:authorization:explain", query=QUERY, returns=EXPLANATION, tag="system",
              refusals=(Refusal(NOT_FOUND, when=messages.USER_OUTSIDE),)),
    ),
    menus=(
        Menu("system", Message("系统管理", "System"), path="/system", icon="lucide:settings", order=900),
        Menu("system.user", Message("用户", "Users"), path="/system/users", parent="system", resource="system:user",
             icon="lucide:users", order=1),
        Menu("system.role", Message("角色", "Roles"), path="/system/roles", parent="system", resource="system:role",
             icon="lucide:shield", order=2),
        Menu("system.menu", Message("菜单", "Menus"), path="/system/menus", parent="system", resource="system:menu",
             icon="lucide:menu", order=3),
        Menu("system.department", Message("部门", "Departments"), path="/system/departments", parent="system",
             resource="system:department", icon="lucide:network", order=4),
        Menu("system.authorization", Message("权限诊断", "Explain a permission"), path="/system/authorization", parent="system",
             resource="system:authorization", icon="lucide:circle-help", order=11),
    ),
    permissions={
        "system:authorization:explain": Message("诊断", "Explain"),
        "system:role:grant": Message("授权", "Grant menus"),
        "system:user:reset-password": Message("重置密码", "Reset password"),
        "system:user:unlock": Message("解锁", "Unlock"),
    },
)  # fmt: skip
