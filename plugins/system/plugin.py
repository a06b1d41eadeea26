"""The plugin system: dictionaries, settings, the operation log, data reset."""

from plugins.api import Dictionary, Message, Option, Plugin, View, link, page, routes_of, text
from plugins.api.ports import OptionValues
from plugins.api.records import Holding, Item
from plugins.system import configs, custom_fields, data_reset, dictionaries, dictionary_items, processes, saved_views
from plugins.system.lifespan import prepare, start
from plugins.system.records import CONFIGS, DICTIONARIES, SAVED_VIEWS

OPTIONS = (
    Option(
        "site_name", text(max_length=100, default="Tradewind"), Message("网站名称", "Name of the site"), public=True
    ),
    Option("site_logo", link(key=True), Message("网站徽标地址", "Address of the site's logo"), public=True),
    Option("site_description", text(max_length=500), Message("网站简介", "Description of the site"), public=True),
    Option("icp_number", text(max_length=100), Message("ICP 备案号", "ICP filing number"), public=True),
    Option("copyright", text(max_length=200), Message("版权信息", "Copyright notice"), public=True),
    Option(
        "contact_email", text(max_length=200, format="idn-email"), Message("联系邮箱", "Contact e-mail"), public=True
    ),
    Option("contact_phone", text(max_length=50), Message("联系电话", "Contact phone"), public=True),
)


MENUS = (
    page("system:dictionary", ("字典", "Dictionaries"), "/system/dictionaries", "lucide:book-open", 5),
    page("system:config", ("系统设置", "Settings"), "/system/configs", "lucide:sliders-horizontal", 6),
    custom_fields.MENU,
    page("system:operation-log", ("操作日志", "Operation log"), "/system/operation-logs", "lucide:scroll-text", 8),
    page("system:job", ("后台任务", "Jobs"), "/system/jobs", "lucide:timer", 10),
    page("system:process", ("服务进程", "Processes"), "/system/processes", "lucide:activity", 11),
)


# the labels that tables show for every field with these two values
STATUS = Dictionary(
    "system_status",
    Message("启用状态", "Status"),
    (
        Item("enabled", Message("启用", "Enabled"), "green"),
        Item("disabled", Message("停用", "Disabled"), "gray"),
    ),
)

plugin = Plugin(
    name="system",
    title=Message("系统", "System"),
    requires=("rbac",),
    provides=(OptionValues,),
    holdings=(Holding(SAVED_VIEWS, "shared_with.users", stays=True),),
    collections=(DICTIONARIES, CONFIGS, SAVED_VIEWS),
    start=start,
    prepare=prepare,
    routes=routes_of(dictionaries, dictionary_items, configs, custom_fields, processes, data_reset, saved_views),
    menus=MENUS,
    dictionaries=(STATUS, processes.RESULTS, custom_fields.TYPES, custom_fields.USES, custom_fields.INDEXES),
    views=(custom_fields.VIEW, View(DICTIONARIES, columns=("name", "type", "updater_id", "updated_at"))),
    options=OPTIONS,
)
