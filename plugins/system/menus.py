"""The menus of the plugin."""

from plugins.api import page

MENUS = (
    page("system:dictionary", ("字典", "Dictionaries"), "/system/dictionaries", "lucide:book-open", 5),
    page("system:config", ("系统设置", "Settings"), "/system/configs", "lucide:sliders-horizontal", 6),
    page("system:operation-log", ("操作日志", "Operation log"), "/system/operation-logs", "lucide:scroll-text", 8),
    page("system:job", ("后台任务", "Jobs"), "/system/jobs", "lucide:timer", 10),
    page("system:process", ("服务进程", "Processes"), "/system/processes", "lucide:activity", 11),
)
