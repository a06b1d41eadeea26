"""What people read: dictionaries, menus and the titles of permissions. Administrators edit menus through `menu_records.py`."""

from __future__ import annotations

from plugins.api import Menu, Message, dictionary, page

DICTIONARIES = (
    dictionary(
        "rbac_data_scope",
        ("数据范围", "Data scope"),
        all=("全部数据", "All data"),
        department=("本部门", "Own department"),
        department_and_below=("本部门及以下", "Own department and below"),
        self=("仅本人", "Own data"),
        custom=("自定义部门", "Chosen departments"),
    ),
    dictionary(
        "rbac_menu_type",
        ("菜单类型", "Type of menu"),
        directory=("目录", "Directory"),
        menu=("菜单", "Menu"),
        button=("按钮", "Button"),
        link=("外链", "Link"),
    ),
    dictionary(
        "rbac_outcome",
        ("操作结果", "Outcome"),
        success=("成功", "Success", "green"),
        failure=("失败", "Failure", "red"),
    ),
    dictionary(
        "rbac_matrix_rows",
        ("权限矩阵的行", "Rows of the matrix"),
        user=("用户", "Users"),
        role=("角色", "Roles"),
    ),
)


MENUS = (
    Menu("system", Message("系统管理", "System"), path="/system", icon="lucide:settings", order=900),
    page("system:user", ("用户", "Users"), "/system/users", "lucide:users", 1),
    page("system:role", ("角色", "Roles"), "/system/roles", "lucide:shield", 2),
    page("system:menu", ("菜单", "Menus"), "/system/menus", "lucide:menu", 3),
    page("system:department", ("部门", "Departments"), "/system/departments", "lucide:network", 4),
    page("system:service-account", ("服务账号", "Service accounts"), "/system/service-accounts", "lucide:id-card", 12),
    page(
        "system:authorization", ("权限诊断", "Explain a permission"), "/system/authorization", "lucide:circle-help", 11
    ),
)

PERMISSIONS = {
    "system:authorization:explain": Message("诊断", "Explain"),
    "system:authorization:matrix": Message("权限矩阵", "Authorization matrix"),
    "system:role:grant": Message("授权", "Grant menus"),
    "system:service-account:key": Message("管理密钥", "Manage keys"),
    "system:user:handover": Message("工作交接", "Hand over work"),
    "system:user:reset-password": Message("重置密码", "Reset password"),
    "system:user:unlock": Message("解锁", "Unlock"),
}
