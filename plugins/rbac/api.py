"""What plugins that require rbac may import."""

from plugins.rbac.directory import Directory, of_people_seen
from plugins.rbac.limits import MANAGING, may_manage
from plugins.rbac.log_entries import OUTCOME, of_log
from plugins.rbac.passwords import MAX_PASSWORD, Passwords, new_password
from plugins.rbac.policy import Grant, Policy, Rules
from plugins.rbac.records import DEPARTMENTS, MENUS, ROLES, USERS
from plugins.rbac.tree import MAX_LEVELS, change_tree, nested
from plugins.rbac.users import credentials, new_credentials

__all__ = [
    "DEPARTMENTS",
    "MANAGING",
    "MAX_LEVELS",
    "MAX_PASSWORD",
    "MENUS",
    "OUTCOME",
    "ROLES",
    "USERS",
    "Directory",
    "Grant",
    "Passwords",
    "Policy",
    "Rules",
    "change_tree",
    "credentials",
    "may_manage",
    "nested",
    "new_credentials",
    "new_password",
    "of_log",
    "of_people_seen",
]
