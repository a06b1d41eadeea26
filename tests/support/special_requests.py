"""Requests that cannot be made from a declaration alone: a secret that must fit, a state that must come first.

A route whose derived request is refused belongs here; tests/api/every/test_every_route.py fails until it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from handlers.route import Route
from handlers.tables.handlers import FaultyRows, ReadImport, StartImport, imported_tables
from plugins.testing import PASSWORD, expect
from tests.api.approval.hand_made import APPROVAL_HAND_MADE
from tests.api.cms.hand_made import CMS_HAND_MADE
from tests.api.console.hand_made import CONSOLE_HAND_MADE
from tests.api.crm.hand_made import HAND_MADE as CRM
from tests.api.crm.tables import form
from tests.api.files.hand_made import FILES_HAND_MADE
from tests.api.finance.hand_made import FINANCE_HAND_MADE
from tests.api.hrm.hand_made import HRM_HAND_MADE
from tests.api.inventory.hand_made import INVENTORY_HAND_MADE
from tests.api.notification.hand_made import NOTIFICATION_HAND_MADE
from tests.api.print.hand_made import PRINT_HAND_MADE
from tests.api.system.hand_made import SYSTEM_HAND_MADE
from tests.api.webhook.hand_made import WEBHOOK_HAND_MADE
from tests.support.catalogue import CATALOGUE
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

AUTH = "/api/v1/auth"
CUSTOMERS = "/api/v1/crm/customers"


async def log_in(maker: Maker, route: Route) -> Exercise:
    person = await maker.person()
    return Exercise(maker.admin, route, route.path, {"username": person.user["username"], "password": PASSWORD})


async def refresh(maker: Maker, route: Route) -> Exercise:
    person = await maker.person()
    return Exercise(person, route, route.path, {"refreshToken": person.session["refreshToken"]})


async def change_password(maker: Maker, route: Route) -> Exercise:
    derived = await maker.derived(route)
    return replace(derived, body={**derived.body, "old_password": PASSWORD})


async def end_own_session(maker: Maker, route: Route) -> Exercise:
    person = await maker.person()
    session = expect(await person.get(f"{AUTH}/sessions"))["items"][0]
    return Exercise(person, route, path_with(route, session["id"]))


async def end_session(maker: Maker, route: Route) -> Exercise:
    own = await end_own_session(maker, route)
    return replace(own, client=maker.admin)


async def data_reset(maker: Maker, route: Route) -> Exercise:
    # one that is refused: what it does is tested where nobody else needs the data
    return Exercise(maker.admin, route, route.path, {"modules": ["rbac"], "confirm": "RESET"}, code=40001)


async def setting(maker: Maker, route: Route) -> Exercise:
    path = path_with(route, "site_description")
    known = expect(await maker.admin.get(path))
    body = {"value": "a site", "version": known["version"]} if route.writes else None
    return Exercise(maker.admin, route, path, body, record=known)


async def claim(maker: Maker, route: Route) -> Exercise:
    in_pool = expect(await maker.admin.post(CUSTOMERS, {"name": "in the pool", "owner_id": None}))
    return Exercise(maker.admin, route, path_with(route, in_pool["id"]), record=in_pool)


async def wecom_off(maker: Maker, route: Route) -> Exercise:
    # the shared server has no WeCom; tests/api/auth/test_wecom*.py have one
    return replace(await maker.derived(route), code=40011)


async def table(maker: Maker, route: Route) -> Exercise:
    (imported,) = imported_tables([route])
    # with a cell beyond the headers, which is a fault in every table
    raw, headers = form({"file": ("table.csv", f"{imported.columns.writable[0].name}\n,beyond".encode())})
    return Exercise(maker.admin, route, route.path, raw=raw, headers=headers)


async def an_import(maker: Maker, route: Route) -> Exercise:
    path = route.path.partition("s/{id}")[0]
    start = next(one for one in maker.catalogue.routes if one.method == "POST" and one.path == path)
    made = expect(await (await table(maker, start)).send())
    return Exercise(maker.admin, route, path_with(route, made["id"]))


_TABLES: Mapping[str, HandMade] = {
    f"{route.method} {route.path}": table if isinstance(route.handler, StartImport) else an_import
    for route in CATALOGUE.routes
    if isinstance(route.handler, StartImport | ReadImport | FaultyRows)
}


async def options(maker: Maker, route: Route) -> Exercise:
    return Exercise(await maker.person(), route, path_with(route, "crm_customers"))


async def saved_view(maker: Maker, route: Route) -> Exercise:
    derived = await maker.derived(route)
    body = {**derived.body, "list": "/api/v1/system/users", "shared_with": {"all": True}}
    return replace(derived, client=maker.admin, body=body)  # a key that includes the creator is taken by the same one


HAND_MADE: Mapping[str, HandMade] = {
    "POST /api/v1/meta/views": saved_view,
    "PATCH /api/v1/meta/views/{id}": saved_view,
    "GET /api/v1/meta/options/{collection}": options,
    f"POST {AUTH}/login": log_in,
    f"POST {AUTH}/refresh": refresh,
    f"PUT {AUTH}/password": change_password,
    f"DELETE {AUTH}/sessions/{{id}}": end_own_session,
    f"GET {AUTH}/wecom/qr": wecom_off,
    f"POST {AUTH}/wecom/callback": wecom_off,
    f"POST {AUTH}/wecom/bind": wecom_off,
    f"POST {AUTH}/wecom/directory": wecom_off,
    "DELETE /api/v1/system/sessions/{id}": end_session,
    "POST /api/v1/system/data-reset": data_reset,
    "GET /api/v1/system/configs/{id}": setting,
    "PATCH /api/v1/system/configs/{id}": setting,
    f"POST {CUSTOMERS}/{{id}}/claim": claim,
    **_TABLES,
    **CRM,
    **APPROVAL_HAND_MADE,
    **CMS_HAND_MADE,
    **CONSOLE_HAND_MADE,
    **NOTIFICATION_HAND_MADE,
    **SYSTEM_HAND_MADE,
    **FILES_HAND_MADE,
    **FINANCE_HAND_MADE,
    **HRM_HAND_MADE,
    **INVENTORY_HAND_MADE,
    **PRINT_HAND_MADE,
    **WEBHOOK_HAND_MADE,
}
