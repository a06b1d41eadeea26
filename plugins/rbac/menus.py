"""The menus of the plugin, and titles of permissions. Administrators edit menus through `menu_records.py`."""

from plugins.api import Menu, Message, page

MENUS = (
    Menu("system", Message("系统管理", "System"), path="/system", icon="lucide:settings", order=900),
    page("system:user", ("用户", "Users"), "/system/users", "lucide:users", 1),
    page("system:role", ("角色", "Roles"), "/system/roles", "lucide:shield", 2),
    page("system:menu", ("菜单", "Menus"), "/system/menus", "lucide:menu", 3),
    page("system:department", ("部门", "Departments"), "/system/departments", "lucide:network", 4),
    page(
        "system:authorization", ("权限诊断", "Explain a permission"), "/system/authorization", "lucide:circle-help", 11
    ),
)

PERMISSIONS = {
    "system:authorization:explain": Message("诊断", "Explain"),
    "system:authorization:matrix": Message("权限矩阵", "Authorization matrix"),
    "system:role:grant": Message("授权", "Grant menus"),
    "system:user:handover": Message("工作交接", "Hand over work"),
    "system:user:reset-password": Message("重置密码", "Reset password"),
    "system:user:unlock": Message("解锁", "Unlock"),
}
