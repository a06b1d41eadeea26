"""Dictionaries, settings, the operation log, data reset (CONTRACT 4)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from plugins.api import (
    DUPLICATE,
    NOT_FOUND,
    NOTHING,
    OPERATION_LOGS,
    PUBLIC,
    SIGNED_IN,
    STALE,
    SUPER,
    SUPER_ONLY,
    Catalogue,
    Menu,
    Message,
    Option,
    Plugin,
    Refusal,
    Service,
    anything,
    array,
    conflicts,
    crud,
    link,
    mapping,
    route,
    text,
)  # fmt: skip
from plugins.rbac.api import OUTCOME
from plugins.system import configs, data_reset, dictionaries, dictionary_items, operation_logs
from plugins.system.configs import Configs
from plugins.system.declared_dictionaries import synchronise
from plugins.system.messages import DICTIONARY_DECLARED, ITEM_DECLARED, NO_ITEM, SETTING_OF_SUPERS
from plugins.system.pages import PAGING
from plugins.system.records import (
    CONFIG,
    CONFIG_BODY,
    CONFIGS,
    DICTIONARIES,
    ITEM,
    ITEM_CREATE,
    ITEM_UPDATE,
    RESET,
    RESET_BODY,
)  # fmt: skip

AT = "/api/v1/system"
ENTRIES = f"{AT}/dictionaries/{{id}}/items"
ONE_ENTRY = f"{ENTRIES}/{{value}}"
TYPES = {"types": array(text(max_length=64), max_items=200, nullable=False, example=["crm_customer_level"],
                        description="These dictionaries, all at once.")}  # fmt: skip
PUBLIC_CONFIG = mapping(anything(), nullable=False, description="Key → value of the public settings, and `time_zone`.")
_NO_ITEM = Refusal(NOT_FOUND, when=NO_ITEM)
_read: dict[str, Any] = {"access": SIGNED_IN, "tag": "system"}


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Offer the settings."""
    service.provide(Configs, Configs(service.database, service.part(Catalogue).options))
    yield


async def prepare(service: Service) -> None:
    """Bring the declared dictionaries and settings in."""
    await service.database.transaction(lambda: synchronise(service.database, service.part(Catalogue)))
    await service.part(Configs).prepare()


plugin = Plugin(
    name="system",
    title=Message("系统", "System"),
    requires=("rbac",),
    collections=(DICTIONARIES, CONFIGS),
    start=start,
    prepare=prepare,
    routes=(
        route(f"GET {AT}/dictionaries", dictionaries.list_dictionaries, summary="List dictionaries", paged=True, etag=True,
              query={**DICTIONARIES.list_query, **TYPES}, returns=DICTIONARIES.read, collection=DICTIONARIES.name, **_read),
        route(f"GET {AT}/dictionaries/{{id}}", dictionaries.read, summary="Read a dictionary", etag=True,
              returns=DICTIONARIES.read, collection=DICTIONARIES.name, **_read),
        *crud(DICTIONARIES, at=f"{AT}/dictionaries", resource="system:dictionary", noun="dictionary", plural="dictionaries",
              only=("create", "update", "delete"), create=dictionaries.create, update=dictionaries.update,
              delete=dictionaries.delete, refusals=conflicts(DICTIONARY_DECLARED, ITEM_DECLARED)),
        route(f"GET {ENTRIES}", dictionary_items.list_items, summary="List the items of a dictionary", paged=True,
              query=PAGING, returns=ITEM, collection=DICTIONARIES.name, **_read),
        route(f"GET {ONE_ENTRY}", dictionary_items.read, summary="Read an item of a dictionary", returns=ITEM,
              refusals=(_NO_ITEM,), **_read),
        route(f"POST {ENTRIES}", dictionary_items.create, summary="Add an item to a dictionary",
              access="system:dictionary:update", body=ITEM_CREATE, returns=ITEM, errors=(DUPLICATE,), tag="system",
              collection=DICTIONARIES.name),
        route(f"PATCH {ONE_ENTRY}", dictionary_items.update, summary="Change an item of a dictionary",
              access="system:dictionary:update", body=ITEM_UPDATE, returns=ITEM, errors=(STALE,),
              refusals=(_NO_ITEM,), tag="system"),
        route(f"DELETE {ONE_ENTRY}", dictionary_items.delete, summary="Remove an item from a dictionary",
              access="system:dictionary:update", returns=NOTHING, refusals=(_NO_ITEM, *conflicts(ITEM_DECLARED)),
              tag="system"),
        route(f"GET {AT}/configs", configs.list_configs, summary="List settings", access="system:config:list", paged=True,
              query=PAGING, returns=CONFIG, tag="system"),
        route(f"PATCH {AT}/configs", configs.update, summary="Change settings", access="system:config:update",
              body=CONFIG_BODY, returns=array(CONFIG, max_items=1000, nullable=False), tag="system",
              asks=(configs.CHANGING_EVENT,), refusals=(Refusal(SUPER_ONLY, SETTING_OF_SUPERS, spares_super=True),)),
        route("GET /api/configs/public", configs.public, summary="Public settings", access=PUBLIC, returns=PUBLIC_CONFIG,
              etag=True, tag="system"),
        route(f"GET {AT}/operation-logs", operation_logs.list_operations, summary="What was written, by whom",
              access="system:operation-log:list", query={**OPERATION_LOGS.list_query, "outcome": OUTCOME},
              returns=OPERATION_LOGS.read, paged=True, tag="system", collection=OPERATION_LOGS.name),
        route(f"POST {AT}/data-reset", data_reset.reset, summary="Remove all records of business plugins", access=SUPER,
              body=RESET_BODY, returns=RESET, tag="system"),
    ),
    menus=(
        Menu("system.dictionary", Message("字典", "Dictionaries"), path="/system/dictionaries", parent="system",
             resource="system:dictionary", icon="lucide:book-open", order=5),
        Menu("system.config", Message("系统设置", "Settings"), path="/system/configs", parent="system",
             resource="system:config", icon="lucide:sliders-horizontal", order=6),
        Menu("system.operation-log", Message("操作日志", "Operation log"), path="/system/operation-logs", parent="system",
             resource="system:operation-log", icon="lucide:scroll-text", order=8),
    ),
    options=(
        Option("site_name", text(max_length=100, default="Tradewind"), Message("网站名称", "Name of the site"), public=True),
        Option("site_logo", link(key=True), Message("网站徽标地址", "Address of the site's logo"), public=True),
        Option("site_description", text(max_length=500), Message("网站简介", "What the site is"), public=True),
        Option("icp_number", text(max_length=100), Message("ICP 备案号", "ICP filing number"), public=True),
        Option("copyright", text(max_length=200), Message("版权信息", "Copyright notice"), public=True),
        Option("contact_email", text(max_length=200, format="email"), Message("联系邮箱", "Contact e-mail"), public=True),
        Option("contact_phone", text(max_length=50), Message("联系电话", "Contact phone"), public=True),
    ),
)  # fmt: skip
