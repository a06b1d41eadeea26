"""An employee with a shift and a place, who acts over HTTP or at a chosen moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handlers.access.actor import Actor
from handlers.data.visible.scope import ALL_ROWS
from handlers.request import Request
from plugins.boot.runtime import Running
from plugins.hrm import punches
from plugins.hrm.attendance_records import PUNCHES
from plugins.testing import PASSWORD, Client, Reply, expect, unique

AT = "/api/v1/hrm"
OFFICE = {"lng": 121.4737, "lat": 31.2304}
BSSID = "9c:54:1c:00:a1:b2"


async def create(admin: Client, what: str, **body: Any) -> dict[str, Any]:
    record: dict[str, Any] = expect(await admin.post(f"{AT}/{what}", body))
    return record


@dataclass
class Staff:
    """An employee: the client of an administrator, their own client, and their records."""

    admin: Client
    client: Client
    employee: dict[str, Any]
    group: dict[str, Any]
    shift: dict[str, Any]
    place: dict[str, Any]

    @classmethod
    async def hire(
        cls,
        admin: Client,
        shift: Mapping[str, Any] | None = None,
        group: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Staff:
        """Create a person who works every day from nine to six at a place of their own."""
        hours = {"name": unique("shift"), "start": "09:00", "end": "18:00", **(shift or {})}
        of_shift = await create(admin, "shifts", **hours)
        place = await create(admin, "places", name=unique("place"), location=OFFICE, radius=200, bssids=[BSSID])
        days = {"working_days": [1, 2, 3, 4, 5, 6, 7], "shift_id": of_shift["id"], "place_ids": [place["id"]]}
        of_group = await create(admin, "attendance-groups", name=unique("group"), **{**days, **(group or {})})
        account = {"username": unique("person"), "password": PASSWORD, "is_super": True, "must_change_password": False}
        user = expect(await admin.post("/api/v1/system/users", account))
        person = {"name": "Mei", "user_id": user["id"], "hired_on": "2025-01-01", "attendance_group_id": of_group["id"]}
        employee = await create(admin, "employees", **{**person, **fields})
        return cls(admin, await admin.log_in(user["username"]), employee, of_group, of_shift, place)

    async def punch(self, **evidence: Any) -> Reply:
        """Punch now, by default with a good position at the office."""
        return await self.client.post(f"{AT}/punches", evidence or {"location": OFFICE, "accuracy": 10})

    async def punch_at(self, service: Running, at: datetime, **evidence: Any) -> dict[str, Any]:
        """Punch at a chosen moment, by calling the handler."""
        body = PUNCHES.create  # checked as a request is
        route = next(one for one in service.catalogue.routes if one.body is body)
        assert route.check_body is not None
        given = route.check_body(evidence or {"location": OFFICE, "accuracy": 10})
        return await punches.punch(self.request(service, at, given))

    def request(self, service: Running, at: datetime, body: Any) -> Request:
        actor = Actor(user_id=self.client.user["userId"])
        return Request(
            service=service.service,
            method="POST",
            target="",
            id="test",
            headers={},
            remote_ip="",
            now=at,
            body=body,
            actor=actor,
            scope=ALL_ROWS,
        )

    async def days(self) -> dict[str, dict[str, Any]]:
        """Day → daily result."""
        query = f"employee_id={self.employee['id']}&page_size=200"
        return {row["day"]: row for row in expect(await self.admin.get(f"{AT}/attendance?{query}"))["items"]}

    async def leave(self, starts_at: str, ends_at: str, *actions: str, type: str = "annual") -> dict[str, Any]:
        """Create leave of this person, and call these actions on it."""
        body = {"type": type, "starts_at": starts_at, "ends_at": ends_at}
        leave: dict[str, Any] = expect(await self.client.post(f"{AT}/leaves", body))
        for action in actions:
            leave = expect(await self.admin.post(f"{AT}/leaves/{leave['id']}/{action}"))
        return leave
