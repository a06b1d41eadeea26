"""The plugin print: records as PDF, in templates that a company may change, with a code by which each is checked."""

from __future__ import annotations

from plugins.api import Message, Plugin, page, routes_of
from plugins.api.reports import Papers
from plugins.print import checking, papers, templates
from plugins.print.records import TEMPLATES, VIEW

MENUS = (
    page("system:print-template", ("打印模板", "Print templates"), "/system/print-templates", "lucide:printer", 14),
)

plugin = Plugin(
    name="print",
    title=Message("打印", "Printing"),
    requires=("rbac", "system"),
    provides=(Papers,),
    start=papers.start,
    collections=(TEMPLATES,),
    routes=routes_of(templates, checking),
    menus=MENUS,
    views=(VIEW,),
    options=papers.OPTIONS,
    permissions={"system:print-template:preview": Message("预览", "Preview")},
)
