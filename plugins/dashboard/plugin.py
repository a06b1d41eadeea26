"""The plugin dashboard: live figures over all business modules."""

from plugins.api import Message, Plugin
from plugins.dashboard import charts
from plugins.dashboard.dictionaries import DICTIONARIES
from plugins.dashboard.lifespan import start
from plugins.dashboard.menus import MENUS, PERMISSIONS
from plugins.dashboard.settings import DashboardSettings

plugin = Plugin(
    name="dashboard",
    title=Message("数据看板", "Dashboards"),
    routes=charts.ROUTES,
    settings=DashboardSettings,
    start=start,
    dictionaries=DICTIONARIES,
    menus=MENUS,
    permissions=PERMISSIONS,
)
