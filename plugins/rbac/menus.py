"""The menus of the plugin, and titles of permissions. Administrators edit menus by `menu_records.py`."""

from plugins.api import Menu, Message

MENUS = (
    Menu("system", Message("系统管理", "System"), path="/system", icon="lucide:settings", order=900),
    Menu(
        "system.user",
        Message("用户", "Users"),
        path="/system/users",
        parent="system",
        resource="system:user",
        icon="lucide:users",
        order=1,
    ),
    Menu(
        "system.role",
        Message("角色", "Roles"),
        path="/system/roles",
        parent="system",
        resource="system:role",
        icon="lucide:shield",
        order=2,
    ),
    Menu(
        "system.menu",
        Message("菜单", "Menus"),
        path="/system/menus",
        parent="system",
        resource="system:menu",
        icon="lucide:menu",
        order=3,
    ),
    Menu(
        "system.department",
        Message("部门", "Departments"),
        path="/system/departments",
        parent="system",
        resource="system:department",
        icon="lucide:network",
        order=4,
    ),
    Menu(
        "system.authorization",
        Message("权限诊断", "Explain a permission"),
        path="/system/authorization",
        parent="system",
        resource="system:authorization",
        icon="lucide:circle-help",
        order=11,
    ),
)

PERMISSIONS = {
    "system:authorization:explain": Message("诊断", "Explain"),
    "system:role:grant": Message("授权", "Grant menus"),
    "system:user:handover": Message("工作交接", "Hand over work"),
    "system:user:reset-password": Message("重置密码", "Reset password"),
    "system:user:unlock": Message("解锁", "Unlock"),
}
