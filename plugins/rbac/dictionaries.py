"""Dictionaries: the enumerations that clients show, with their labels."""

from __future__ import annotations

from plugins.api import dictionary

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
