"""What plugins that require rbac may import."""

from plugins.rbac.deciding import REFUSES_ONESELF, refuse_oneself
from plugins.rbac.departments import add_department, change_department
from plugins.rbac.directory import OUTCOME, Directory, log_filter, people_of_the_demo, visible_users_filter
from plugins.rbac.limits import MANAGING, may_manage
from plugins.rbac.menu_records import own_tree
from plugins.rbac.passwords import MAX_PASSWORD, Passwords, new_password
from plugins.rbac.policy import Grant, Policy, Rules, people_permitted
from plugins.rbac.records import DEPARTMENTS, MENU_NODE, MENUS, ROLES, SERVICE_KEYS, USERS
from plugins.rbac.service_keys import KEY_PREFIX, hash_of_key
from plugins.rbac.tree import MAX_LEVELS, change_tree, nest
from plugins.rbac.users import SESSIONS_VOID, credentials, new_credentials

__all__ = [
    "DEPARTMENTS",
    "KEY_PREFIX",
    "MANAGING",
    "MAX_LEVELS",
    "MAX_PASSWORD",
    "MENUS",
    "MENU_NODE",
    "OUTCOME",
    "REFUSES_ONESELF",
    "ROLES",
    "SERVICE_KEYS",
    "SESSIONS_VOID",
    "USERS",
    "Directory",
    "Grant",
    "Passwords",
    "Policy",
    "Rules",
    "add_department",
    "change_department",
    "change_tree",
    "credentials",
    "hash_of_key",
    "log_filter",
    "may_manage",
    "nest",
    "new_credentials",
    "new_password",
    "own_tree",
    "people_of_the_demo",
    "people_permitted",
    "refuse_oneself",
    "visible_users_filter",
]
