"""The works as plain Tornado handlers over Motor: `python -m tests.experiments.benchmark.peers.tornado_peer PORT`."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import bcrypt
import uvloop
from bson import ObjectId
from motor.motor_asyncio import AsyncIOMotorClient
from pydantic import ValidationError
from tornado.web import Application, RequestHandler

from tests.experiments.benchmark.peers.world import (
    CUSTOMER_FIELDS,
    OPTIONS,
    RECORD_FIELDS,
    WORLD,
    Person,
    RecordBody,
    Refused,
    authorized,
    envelope,
    load_people,
    tokens,
    trend,
    trend_pipeline,
    wire,
)


class Base(RequestHandler):
    """The base of every handler: JSON responses, and refusals as envelopes."""

    path = ""

    def initialize(self, database: Any, people: dict[int, Person]) -> None:
        """Tornado: set the database and the people."""
        self.database, self.people = database, people

    def set_default_headers(self) -> None:
        """Tornado: set the headers of every response."""
        self.set_header("Content-Type", "application/json; charset=utf-8")

    def person(self) -> Person:
        """Return the person who sends the request."""
        return authorized(self.people, self.request.headers.get("Authorization"), self.request.method or "", self.path)

    def answer(self, data: Any) -> None:
        """Send a success."""
        self.finish(envelope(data))

    def write_error(self, status_code: int, **options: Any) -> None:
        """Tornado: send a refusal."""
        error = options.get("exc_info", (None, None, None))[1]
        refused = error if isinstance(error, Refused) else Refused(status_code, 50000)
        self.set_status(refused.status)
        self.finish(envelope(None, refused.code))

    def log_exception(self, *error: Any) -> None:
        """Tornado: log everything but refusals, which are not errors."""
        if not isinstance(error[1], Refused):
            super().log_exception(*error)


class Health(Base):
    """Liveness."""

    def get(self) -> None:
        """Serve W1."""
        self.answer({"status": "ok"})


class Ping(Base):
    """Token and permission, no database."""

    path = "/api/v1/bench/ping"

    def get(self) -> None:
        """Serve W2."""
        self.person()
        self.answer({"status": "ok"})


class Customer(Base):
    """One record."""

    path = "/api/v1/crm/customers/{id}"

    async def get(self, id: str) -> None:
        """Serve W3."""
        person = self.person()
        matching = {"$and": [{"_id": ObjectId(id)}, person.rows()]}
        row = await self.database.crm_customers.find_one(matching, CUSTOMER_FIELDS)
        if row is None:
            raise Refused(404, 40400)
        self.answer(wire(row, CUSTOMER_FIELDS))


class Customers(Base):
    """A page of records."""

    path = "/api/v1/crm/customers"

    async def get(self) -> None:
        """Serve W4 and W4w."""
        person = self.person()
        page, size = int(self.get_query_argument("page", "1")), int(self.get_query_argument("page_size", "20"))
        customers = self.database.crm_customers
        found = customers.find(person.rows(), CUSTOMER_FIELDS).sort([("created_at", -1), ("_id", -1)])
        rows, total = await asyncio.gather(
            found.skip((page - 1) * size).limit(size).to_list(None), customers.count_documents(person.rows())
        )
        items = [wire(row, CUSTOMER_FIELDS) for row in rows]
        self.answer({"items": items, "total": total, "page": page, "page_size": size})


class Records(Base):
    """Creates records."""

    path = "/api/v1/bench/records"

    async def post(self) -> None:
        """Serve W5."""
        person = self.person()
        try:
            body = RecordBody.model_validate_json(self.request.body)
        except ValidationError as error:
            raise Refused(400, 40001) from error
        document = person.stamped(body)
        await self.database.bench_records.insert_one(document)
        self.answer(wire(document, RECORD_FIELDS))


class Trend(Base):
    """The sales trend."""

    path = "/api/dashboard/sales-trend"

    async def get(self) -> None:
        """Serve W6."""
        pipeline, names = trend_pipeline(self.person(), int(self.get_query_argument("days", "30")))
        self.answer(trend(await self.database.crm_payments.aggregate(pipeline).to_list(None), names))


class Login(Base):
    """Logs in."""

    async def post(self) -> None:
        """Serve the log-ins of W7."""
        given = self.request.body.decode()
        name = given.split('"')[3]
        user = await self.database.rbac_users.find_one({"username": name})
        password, hashed = WORLD["password"].encode(), WORLD["hash"].encode()
        if user is None or not await asyncio.get_running_loop().run_in_executor(None, bcrypt.checkpw, password, hashed):
            raise Refused(400, 40010)
        self.answer(tokens(user))


async def main(port: int) -> None:
    """Serve until the process is ended."""
    database = AsyncIOMotorClient(WORLD["uri"], **OPTIONS)[WORLD["database"]]
    parts = {"database": database, "people": load_people()}
    Application(
        [
            ("/api/health", Health, parts),
            (Ping.path, Ping, parts),
            (r"/api/v1/crm/customers/([0-9a-f]{24})", Customer, parts),
            (Customers.path, Customers, parts),
            (Records.path, Records, parts),
            (Trend.path, Trend, parts),
            ("/api/v1/auth/login", Login, parts),
        ],
        log_function=lambda handler: None,
    ).listen(port, "127.0.0.1")
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
