"""The menus of the plugin."""

from plugins.api import Menu, Message

MENUS = (
    Menu(
        "system.dictionary",
        Message("字典", "Dictionaries"),
        path="/system/dictionaries",
        parent="system",
        resource="system:dictionary",
        icon="lucide:book-open",
        order=5,
    ),
    Menu(
        "system.config",
        Message("系统设置", "Settings"),
        path="/system/configs",
        parent="system",
        resource="system:config",
        icon="lucide:sliders-horizontal",
        order=6,
    ),
    Menu(
        "system.operation-log",
        Message("操作日志", "Operation log"),
        path="/system/operation-logs",
        parent="system",
        resource="system:operation-log",
        icon="lucide:scroll-text",
        order=8,
    ),
)
