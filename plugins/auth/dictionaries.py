"""Dictionaries: the enumerations that clients show, with their labels."""

from __future__ import annotations

from plugins.api import dictionary

DICTIONARIES = (
    dictionary(
        "auth_login_event",
        ("登录事件", "Log-in event"),
        login=("登录", "Log-in"),
        logout=("退出登录", "Log-out"),
        lockout=("账号锁定", "Lockout", "red"),
        token_reuse=("令牌重复使用", "Token reused", "red"),
        kicked_out=("强制下线", "Forced log-out", "orange"),
        password_change=("修改密码", "Password change"),
    ),
)
