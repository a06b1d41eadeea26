"""The plugin system: dictionaries, settings, the operation log, data reset."""

from plugins.api import Dictionary, Message, Plugin, routes_of
from plugins.api.ports import OptionValues
from plugins.api.records import Holding, Item
from plugins.system import (
    configs,
    data_reset,
    dictionaries,
    dictionary_items,
    jobs,
    operation_logs,
    processes,
    saved_views,
)
from plugins.system.lifespan import prepare, start
from plugins.system.menus import MENUS
from plugins.system.options import OPTIONS
from plugins.system.records import CONFIGS, DICTIONARIES, SAVED_VIEWS

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
    routes=routes_of(dictionaries, dictionary_items, configs, operation_logs, data_reset, jobs, processes, saved_views),
    menus=MENUS,
    emits=(configs.CHANGING_EVENT,),
    dictionaries=(STATUS, jobs.RESULTS),
    options=OPTIONS,
)
