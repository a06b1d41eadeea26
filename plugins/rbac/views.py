"""How the console shows roles: the departments of a data scope only where it is made of them."""

from plugins.api import View
from plugins.rbac.records import ROLES

VIEWS = (View(ROLES, widgets={"data_scope_department_ids": {"visibleOn": "${data_scope == 'custom'}"}}),)
