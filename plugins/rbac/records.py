"""The records of rbac: departments, roles, menus, users. The menus hold the bindings role → menu → API."""

from __future__ import annotations

from dataclasses import replace

from plugins.api import (
    Collection,
    Index,
    Message,
    array,
    boolean,
    choice,
    integer,
    link,
    obj,
    record_name,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.api.fields import tree_of
from plugins.rbac.messages import DEPARTMENT_HAS_CHILDREN, DEPARTMENT_HAS_PEOPLE, MENU_HAS_CHILDREN, ROLE_HELD
from plugins.rbac.passwords import new_password

STATUS = choice("enabled", "disabled", label=("状态", "Status"), default="enabled", filter=True, sort=True)
SCOPES = ("all", "department", "department_and_below", "self", "custom")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# relative to the parent, a path of the front end, or a web address; no other scheme
_MENU_PATH = r"""^([Hh][Tt][Tt][Pp][Ss]?:|(?![A-Za-z][A-Za-z0-9+.-]*:))[^\x00-\x20\x7f"'<>\\]*$"""
MAX_MENUS = 5000

DEPARTMENTS = Collection(
    name="rbac_departments",
    title="Department",
    noun=Message("部门", "department"),
    alias="departments",
    ids="integer",
    watched=True,
    default_sort="sort",
    fields={
        "parent_id": integer(
            label=("上级部门", "Parent department"),
            minimum=1,
            ref="rbac_departments",
            held=DEPARTMENT_HAS_CHILDREN,
            filter=True,
        ),
        "ancestors": array(
            integer(),
            label=("所有上级部门", "All departments above"),
            read_only=True,
            nullable=False,
            default=[],
            ref="departments",
        ),
        "name": text(label=("部门名称", "Department name"), required=True, max_length=100, search=True),
        "code": text(label=("部门编码", "Department code"), max_length=64, pattern=r"^[A-Za-z0-9._-]+$"),
        "leader_user_id": integer(
            label=("部门负责人", "Department head"), minimum=1, ref="rbac_users", on_delete="keep"
        ),
        "sort": integer(label=("排序", "Sort order"), minimum=0, maximum=1_000_000, default=0, sort=True),
        "status": STATUS,
    },
    indexes=(
        Index("code", unique=True, where={"code": {"$type": "string"}}),
        Index("parent_id", "sort"),
        Index("ancestors"),
    ),
)

ROLES = Collection(
    name="rbac_roles",
    title="Role",
    noun=Message("角色", "role"),
    ids="integer",
    watched=True,
    default_sort="sort",
    fields={
        "code": text(
            label=("角色编码", "Role code"),
            required=True,
            max_length=64,
            pattern=r"^[A-Za-z0-9._-]+$",
            sort=True,
            search=True,
        ),
        "name": record_name(label=("角色名称", "Role name"), max_length=100),
        "data_scope": choice(*SCOPES, label=("数据范围", "Data scope"), default="self", filter=True),
        "data_scope_department_ids": array(
            integer(minimum=1),
            label=("自定义范围部门", "Departments in the scope"),
            unique=True,
            max_items=1000,
            default=[],
            ref="rbac_departments",
        ),
        "menu_ids": array(
            integer(minimum=1),
            label=("菜单权限", "Menus"),
            unique=True,
            max_items=MAX_MENUS,
            nullable=False,
            ref="rbac_menus",
            on_delete="keep",
            description="Changing it needs the permission system:role:grant, as PUT …/menus does.",
            history=False,
        ),
        "status": STATUS,
        "sort": integer(label=("排序", "Sort order"), minimum=0, maximum=1_000_000, default=0, sort=True),
        "remark": text(label=("备注", "Remarks")),
    },
    indexes=(Index("code", unique=True),),
)

MENUS = Collection(
    name="rbac_menus",
    title="Menu",
    label="title",
    noun=Message("菜单", "menu"),
    ids="integer",
    watched=True,
    default_sort="order",
    fields={
        "parent_id": integer(label=("上级菜单", "Parent menu"), minimum=1, ref="rbac_menus", held=MENU_HAS_CHILDREN),
        "type": choice("directory", "menu", "button", "link", label=("菜单类型", "Type"), required=True),
        "code": text(label=("菜单编码", "Menu code"), required=True, max_length=100, pattern=r"^[A-Za-z0-9:._-]+$"),
        "name": text(label=("路由名称", "Route name"), max_length=100),
        "title": text(label=("菜单名称", "Title"), required=True, max_length=100),
        "title_en": text(label=("英文名称", "English title"), max_length=100),
        "path": text(label=("路由地址", "Path"), max_length=200, pattern=_MENU_PATH, example="/system/users"),
        "component": text(label=("组件路径", "Component"), max_length=200),
        "redirect": link(label=("重定向地址", "Redirect"), web=False, max_length=200),
        "icon": text(label=("图标", "Icon"), max_length=100),
        "order": integer(label=("排序", "Sort order"), minimum=0, maximum=1_000_000, default=0, sort=True),
        "hidden": boolean(label=("隐藏", "Hidden"), default=False),
        "link": link(label=("外链地址", "Link"), own=False, example="https://example.com"),
        "permission": text(
            label=("权限标识", "Permission"),
            max_length=100,
            pattern=r"^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$",
        ),
        "apis": array(
            obj(
                "MenuApi",
                {
                    "method": choice(*METHODS, label=("请求方法", "Method"), required=True),
                    "path": text(label=("接口地址", "API path"), required=True, max_length=300, pattern="^/"),
                },
            ),
            label=("接口", "APIs"),
            default=[],
        ),
        **service_fields(
            role_ids=array(integer(minimum=1), label=("角色", "Roles"), default=[], max_items=10_000, ref="rbac_roles"),
            withdrawn=boolean(
                label=("已失效", "Withdrawn"), default=False, description="No loaded plugin declares it any more."
            ),
        ),
    },
    indexes=(Index("code", unique=True), Index("parent_id", "order"), Index("role_ids")),
    internal=("declared", "edited"),
)

USERS = Collection(
    name="rbac_users",
    title="User",
    noun=Message("用户", "user"),
    alias="users",
    label="real_name",
    code="username",
    ids="integer",
    watched=True,
    scoped=True,
    scope_department="department_id",
    scope_person="id",
    fields={
        "username": text(
            label=("用户名", "Username"),
            required=True,
            min_length=2,
            max_length=64,
            pattern=r"^[A-Za-z0-9_.@-]+$",
            sort=True,
            search=True,
        ),
        "password": new_password(write_only=True),
        "real_name": text(label=("姓名", "Name"), max_length=100, sort="folded", search=True, person=True),
        "avatar": link(
            label=("头像", "Avatar"), key=True, description="An address, or the `url`, key or id of a public file."
        ),
        "email": text(label=("邮箱", "Email"), max_length=200, format="idn-email", search=True),
        "mobile": text(label=("手机号", "Mobile"), max_length=20, pattern=r"^\+?[0-9 -]{5,20}$", search=True),
        "department_id": integer(
            label=("部门", "Department"), minimum=1, ref="rbac_departments", held=DEPARTMENT_HAS_PEOPLE, filter=True
        ),
        "role_ids": array(
            integer(minimum=1),
            label=("角色", "Roles"),
            unique=True,
            ref="rbac_roles",
            held=ROLE_HELD,
            default=[],
            filter=True,
        ),
        "status": STATUS,
        "is_super": boolean(label=("超级管理员", "Super administrator"), default=False, filter=True),
        "must_change_password": boolean(label=("下次登录须改密码", "Must change password"), default=True),
        "home_path": link(label=("首页地址", "Home page"), web=False, max_length=200),
        "wecom_user_id": text(label=("企业微信账号", "WeCom account"), max_length=64, read_only=True),
        "locked_until": timestamp(label=("锁定至", "Locked until"), read_only=True, history=False),
        "last_login_at": timestamp(label=("最后登录时间", "Last login at"), read_only=True, sort=True, history=False),
    },
    indexes=(
        Index("username", unique=True),
        Index("wecom_user_id", unique=True, where={"wecom_user_id": {"$type": "string"}}),
        Index("role_ids"),
        Index("department_id", "username"),
    ),
    internal=("service", "password_hash", "password_history", "failures", "failed_at", "networks", "network_locks"),
)

# the programs among the users (`service`), as clients see them
SERVICE_ACCOUNTS = replace(
    USERS,
    title="ServiceAccount",
    noun=Message("服务账号", "service account"),
    fields={name: USERS.fields[name] for name in ("username", "real_name", "department_id", "role_ids", "status")},
)

# watched, so that every instance knows the keys that are valid
SERVICE_KEYS = Collection(
    name="rbac_service_keys",
    title="ServiceKey",
    noun=Message("访问密钥", "key of a service account"),
    watched=True,
    fields={
        **service_fields(
            account_id=integer(label=("服务账号", "Service account"), minimum=1, ref="rbac_users", on_delete="keep"),
        ),
        "name": record_name(label=("名称", "Name"), max_length=100),
        "addresses": array(
            text(max_length=50, example="203.0.113.0/24"),
            label=("允许的网络", "Allowed networks"),
            max_items=50,
            default=[],
            description="The addresses or networks (CIDR) from which the key is accepted; empty for all.",
        ),
        "expires_at": timestamp(
            label=("过期时间", "Expires at"), example="2099-12-31T00:00:00.000Z", description="Null for never."
        ),
        "hint": text(label=("开头", "Begins with"), max_length=20, read_only=True, nullable=False),
        "last_used_at": timestamp(
            label=("最后使用时间", "Last used at"), read_only=True, history=False, description="Accurate to the minute."
        ),
    },
    indexes=(Index("account_id", "-created_at"),),
    internal=("hash",),
)

MENU_NODE = tree_of(
    "OwnMenuNode",
    {
        "id": integer(nullable=False),
        "parent_id": integer(ref="rbac_menus"),
        "type": choice("directory", "menu", "link", nullable=False),
        "code": text(nullable=False),
        "name": text(nullable=False),
        "path": text(nullable=False),
        "component": text(),
        "redirect": text(),
        "permissions": array(text(nullable=False), nullable=False, max_items=1000),
        "meta": shape(
            "MenuMeta",
            title=text(nullable=False),
            icon=text(),
            order=integer(nullable=False),
            hideInMenu=boolean(nullable=False),
            keepAlive=boolean(nullable=False),
            link=text(),
            iframeSrc=text(),
        ),
    },
)
