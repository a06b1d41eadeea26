"""The records of rbac: departments, roles, menus, users. The menus hold the bindings role → menu → API."""

from __future__ import annotations

from plugins.api import Collection, Index, array, boolean, choice, integer, link, obj, text, timestamp, tree_of
from plugins.rbac.passwords import new_password

STATUS = choice("enabled", "disabled", default="enabled", filter=True, sort=True)
SCOPES = ("all", "department", "department_and_below", "self", "custom")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# relative to the parent, a path of the front end, or a web address; no other scheme
_MENU_PATH = r"""^([Hh][Tt][Tt][Pp][Ss]?:|(?![A-Za-z][A-Za-z0-9+.-]*:))[^\x00-\x20\x7f"'<>\\]*$"""
MAX_MENUS = 5000

DEPARTMENTS = Collection(
    name="rbac_departments",
    title="Department",
    alias="departments",
    ids="integer",
    watched=True,
    default_sort="sort",
    fields={
        "parent_id": integer(minimum=1, ref="rbac_departments", filter=True),
        "ancestors": array(integer(), read_only=True, nullable=False, default=[]),
        "name": text(required=True, max_length=100, search=True),
        "code": text(max_length=64, pattern=r"^[A-Za-z0-9._-]+$"),
        "leader_user_id": integer(minimum=1, ref="rbac_users"),
        "sort": integer(minimum=0, maximum=1_000_000, default=0, sort=True),
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
    ids="integer",
    watched=True,
    default_sort="sort",
    fields={
        "code": text(required=True, max_length=64, pattern=r"^[A-Za-z0-9._-]+$", sort=True, search=True),
        "name": text(required=True, max_length=100, sort="folded", search=True),
        "data_scope": choice(*SCOPES, default="self", filter=True),
        "data_scope_department_ids": array(
            integer(minimum=1), unique=True, max_items=1000, default=[], ref="rbac_departments"
        ),
        "menu_ids": array(
            integer(minimum=1),
            unique=True,
            max_items=MAX_MENUS,
            nullable=False,
            ref="rbac_menus",
            description="Writing it takes the permission system:role:grant, as PUT …/menus does.",
        ),
        "status": STATUS,
        "sort": integer(minimum=0, maximum=1_000_000, default=0, sort=True),
        "remark": text(),
    },
    indexes=(Index("code", unique=True),),
)

MENUS = Collection(
    name="rbac_menus",
    title="Menu",
    ids="integer",
    watched=True,
    default_sort="order",
    fields={
        "parent_id": integer(minimum=1, ref="rbac_menus"),
        "type": choice("directory", "menu", "button", "link", required=True),
        "code": text(required=True, max_length=100, pattern=r"^[A-Za-z0-9:._-]+$"),
        "name": text(max_length=100),
        "title": text(required=True, max_length=100),
        "title_en": text(max_length=100),
        "path": text(max_length=200, pattern=_MENU_PATH, example="/system/users"),
        "component": text(max_length=200),
        "redirect": link(web=False, max_length=200),
        "icon": text(max_length=100),
        "order": integer(minimum=0, maximum=1_000_000, default=0, sort=True),
        "hidden": boolean(default=False),
        "link": link(own=False, example="https://example.com"),
        "permission": text(max_length=100, pattern=r"^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$"),
        "apis": array(
            obj(
                "MenuApi",
                {"method": choice(*METHODS, required=True), "path": text(required=True, max_length=300, pattern="^/")},
            ),
            default=[],
        ),
        "role_ids": array(integer(minimum=1), read_only=True, nullable=False, default=[], max_items=10_000),
        "withdrawn": boolean(
            read_only=True, nullable=False, default=False, description="No loaded plugin declares it any more."
        ),
    },
    indexes=(Index("code", unique=True), Index("parent_id", "order"), Index("role_ids")),
    internal=("declared", "edited"),
)

USERS = Collection(
    name="rbac_users",
    title="User",
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
            required=True, min_length=2, max_length=64, pattern=r"^[A-Za-z0-9_.@-]+$", sort=True, search=True
        ),
        "password": new_password(write_only=True),
        "real_name": text(max_length=100, sort="folded", search=True),
        "avatar": link(key=True, description="An address, or the `url`, key or id of a public file."),
        "email": text(max_length=200, format="email", search=True),
        "mobile": text(max_length=20, pattern=r"^\+?[0-9 -]{5,20}$", search=True),
        "department_id": integer(minimum=1, ref="rbac_departments", filter=True),
        "role_ids": array(integer(minimum=1), unique=True, ref="rbac_roles", default=[], filter=True),
        "status": STATUS,
        "is_super": boolean(default=False, filter=True),
        "must_change_password": boolean(default=True),
        "home_path": link(web=False, max_length=200),
        "wecom_user_id": text(max_length=64, read_only=True),
        "locked_until": timestamp(read_only=True),
        "last_login_at": timestamp(read_only=True, sort=True),
    },
    indexes=(
        Index("username", unique=True),
        Index("wecom_user_id", unique=True, where={"wecom_user_id": {"$type": "string"}}),
        Index("role_ids"),
        Index("department_id", "username"),
    ),
    internal=("password_hash", "password_history", "failures", "failed_at"),
)

MENU_NODE = tree_of(
    "OwnMenuNode",
    {
        "id": integer(nullable=False),
        "parent_id": integer(),
        "type": choice("directory", "menu", "link", nullable=False),
        "code": text(nullable=False),
        "name": text(nullable=False),
        "path": text(nullable=False),
        "component": text(),
        "redirect": text(),
        "permissions": array(text(nullable=False), nullable=False, max_items=1000),
        "meta": obj(
            "MenuMeta",
            {
                "title": text(nullable=False),
                "icon": text(),
                "order": integer(nullable=False),
                "hideInMenu": boolean(nullable=False),
                "keepAlive": boolean(nullable=False),
                "link": text(),
                "iframeSrc": text(),
            },
            nullable=False,
        ),
    },
)
