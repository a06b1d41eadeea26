"""Requests of webhooks that cannot be made from a declaration alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from handlers.route import Route
from plugins.testing import expect, unique
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

HOOKS = "/api/v1/system/webhooks"


async def create(maker: Maker, route: Route) -> Exercise:
    """Of a webhook that is disabled: the shared server sends nothing."""
    account = {"username": unique("erp"), "role_ids": []}
    reader = expect(await maker.admin.post("/api/v1/system/service-accounts", account))["id"]
    body = {"name": unique("hook"), "url": "http://127.0.0.1:9/", "events": ["crm_customers.*"], "account_id": reader}
    return Exercise(maker.admin, route, route.path, {**body, "status": "disabled"})


async def update(maker: Maker, route: Route) -> Exercise:
    """Of its name."""
    made = await maker.record("webhook_endpoints")
    body = {"version": made["version"], "name": unique("renamed")}
    return Exercise(maker.admin, route, path_with(route, made["id"]), body, record=made)


async def replay(maker: Maker, route: Route) -> Exercise:
    """Of no delivery."""
    made = await maker.record("webhook_endpoints")
    return replace(await update(maker, route), path=path_with(route, made["id"]), body=None, code=40400)


WEBHOOK_HAND_MADE: Mapping[str, HandMade] = {
    f"POST {HOOKS}": create,
    f"PATCH {HOOKS}/{{id}}": update,
    f"POST {HOOKS}/{{id}}/deliveries/{{delivery_id}}/replay": replay,
}
