"""Requests of notification that cannot be made from a declaration alone (see tests/support/special_requests.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from handlers.route import Route
from plugins.testing import expect, unique
from tests.support.valid_requests import Exercise, HandMade, Maker, path_with

AT = "/api/v1/notifications"


async def of_a_message(maker: Maker, route: Route) -> Exercise:
    """Return a request about a new message."""
    person = await maker.person()
    expect(await maker.admin.post(AT, {"user_ids": [person.user["userId"]], "title": "a message"}))
    message = expect(await person.get(AT))["items"][0]
    return Exercise(person, route, path_with(route, message["id"]), record=message)


async def socket(maker: Maker, route: Route) -> Exercise:
    """Return the request without an upgrade, which is refused."""
    return replace(await maker.derived(route), code=40000)


async def announcement(maker: Maker, route: Route) -> Exercise:
    """Return a request for one to the administrator, whose time does not come."""
    to, never = {"users": [1]}, "2199-01-01T00:00:00Z"
    body = {"title": "an announcement", "content": "a text", "to": to, "publish_at": never}
    return Exercise(maker.admin, route, route.path, body)


async def confirm(maker: Maker, route: Route) -> Exercise:
    """Return a request about a message that need not be confirmed."""
    return replace(await of_a_message(maker, route), code=40901)


async def template(maker: Maker, route: Route) -> Exercise:
    """Return a request for a template of a kind that has none."""
    derived = await maker.derived(route)
    return replace(derived, body={**derived.body, "kind": unique("kind"), "text": "{{ body }}", "html": None})


async def preferences(maker: Maker, route: Route) -> Exercise:
    """Return a request that switches off what may be."""
    kinds = [{"kind": "*", "email": "off", "wecom": "digest"}]
    return replace(await maker.derived(route), body={"kinds": kinds, "digest_at": "18:00"})


NOTIFICATION_HAND_MADE: Mapping[str, HandMade] = {
    f"POST {AT}/{{id}}/read": of_a_message,
    f"DELETE {AT}/{{id}}": of_a_message,
    f"GET {AT}/ws": socket,
    f"GET {AT}/{{id}}/why": of_a_message,
    f"PUT {AT}/preferences": preferences,
    f"POST {AT}/templates": template,
    f"PATCH {AT}/templates/{{id}}": template,
    f"POST {AT}/announcements": announcement,
    f"POST {AT}/{{id}}/confirm": confirm,
}
