"""The year in which the demonstration company does business: its moments, its requests, and what they left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any

from handlers.access.actor import Actor
from handlers.data.database import utc_now
from handlers.schema.calendar import day_of
from handlers.schema.values import Record
from handlers.service import Service
from plugins.records.demo_data import Demonstration

DAYS = 360
CRM, STOCK, FINANCE, HRM = "/api/v1/crm", "/api/v1/inventory", "/api/v1/finance", "/api/v1/hrm"
SYSTEM = "/api/v1/system"


class Year:
    """Sends requests at moments in the past, and keeps records that later ones refer to.

    What chance decides is the same at every start.
    """

    def __init__(self, service: Service, people: Mapping[str, Actor]) -> None:
        self.service, self.people = service, dict(people)
        self.demo, self.chance = Demonstration(service), Random(7)  # noqa: S311 - no secret
        self.zone, self.now = service.settings.zone, utc_now()
        self.boss = people["admin"]
        self.sellers: list[Actor] = []
        self.departments: dict[str, Any] = {}
        self.employees: list[Record] = []
        self.customers: list[tuple[Record, Actor]] = []
        self.products: list[Record] = []
        self.suppliers: list[Record] = []
        self.warehouses: list[Record] = []
        self.bank: Any = None

    def at(self, ago: int, hour: int = 10) -> datetime:
        """Return a moment so many days ago, on the last working day before it if that is a weekend."""
        day = date.fromisoformat(self.day(ago))
        moment = datetime.combine(day, time(hour, self.chance.randrange(60)), self.zone)
        return min(moment.astimezone(self.now.tzinfo), self.now - timedelta(minutes=5))

    def day(self, ago: int) -> str:
        """Return a day in the past as bodies have it, a working day unless it is today; `ago` may be negative."""
        day = day_of(self.now, self.zone) - timedelta(days=ago)
        return (day - timedelta(days=max(0, day.isoweekday() - 5)) if ago > 0 else day).isoformat()

    def spread(self, count: int, first: int = DAYS, last: int = 0) -> Iterator[int]:
        """Yield so many numbers of days ago, evenly from the first to the last."""
        for number in range(count):
            yield first - (first - last) * number // max(1, count - 1)

    async def send(
        self, endpoint: str, ago: int = 0, body: Record | None = None, by: Actor | None = None, **path: object
    ) -> Record:
        """Send a request so many days ago, by the boss unless `by` says who."""
        return await self.demo.send(endpoint, by or self.boss, self.at(ago), body, **path)

    async def rows(self, path: str, **query: object) -> list[Record]:
        """Return up to 200 records of a list as of now."""
        return await self.demo.rows(f"GET {path}", self.boss, self.now, page_size=200, with_total="false", **query)

    def hours(self, ago: int) -> Record:
        """Return the fields of leave for a whole working day, so many days ago or, if negative, from now on."""
        day = date.fromisoformat(self.day(ago))
        day += timedelta(days=8 - day.isoweekday() if day.isoweekday() > 5 else 0)
        begins, ends = (datetime.combine(day, time(hour), self.zone) for hour in (9, 18))
        return {"starts_at": begins.astimezone(self.now.tzinfo), "ends_at": ends.astimezone(self.now.tzinfo)}

    def seller(self, number: int) -> Actor:
        """Return one of those who sell, in turn."""
        return self.sellers[number % len(self.sellers)]
