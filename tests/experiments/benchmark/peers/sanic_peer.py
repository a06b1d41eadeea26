"""The works on Sanic over PyMongo's asynchronous client: `python -m tests.experiments.benchmark.peers.sanic_peer PORT`."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import bcrypt
from bson import ObjectId
from pydantic import ValidationError
from pymongo import AsyncMongoClient
from sanic import HTTPResponse, Request, Sanic

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

app = Sanic("bench", configure_logging=False)
app.config.ACCESS_LOG = False


@app.before_server_start
async def start(app: Sanic) -> None:
    """Open the database and load the people."""
    app.ctx.database = AsyncMongoClient(WORLD["uri"], **OPTIONS)[WORLD["database"]]
    app.ctx.people = load_people()


def answer(data: Any, status: int = 200, code: int = 0) -> HTTPResponse:
    """Return an envelope."""
    return HTTPResponse(envelope(data, code), status, content_type="application/json")


def person(request: Request, path: str) -> Person:
    """Return the person who sends the request, if they may."""
    return authorized(request.app.ctx.people, request.headers.get("authorization"), request.method, path)


@app.exception(Refused)
async def refused(request: Request, error: Refused) -> HTTPResponse:
    """Return the response for a refusal."""
    return answer(None, error.status, error.code)


@app.get("/api/health")
async def health(request: Request) -> HTTPResponse:
    """Serve W1."""
    return answer({"status": "ok"})


@app.get("/api/v1/bench/ping")
async def ping(request: Request) -> HTTPResponse:
    """Serve W2."""
    person(request, "/api/v1/bench/ping")
    return answer({"status": "ok"})


@app.get("/api/v1/crm/customers/<id:str>")
async def customer(request: Request, id: str) -> HTTPResponse:
    """Serve W3."""
    caller = person(request, "/api/v1/crm/customers/{id}")
    matching = {"$and": [{"_id": ObjectId(id)}, caller.rows()]}
    row = await request.app.ctx.database.crm_customers.find_one(matching, CUSTOMER_FIELDS)
    if row is None:
        raise Refused(404, 40400)
    return answer(wire(row, CUSTOMER_FIELDS))


@app.get("/api/v1/crm/customers")
async def customers(request: Request) -> HTTPResponse:
    """Serve W4 and W4w."""
    caller = person(request, "/api/v1/crm/customers")
    page, size = int(request.args.get("page", "1")), int(request.args.get("page_size", "20"))
    collection = request.app.ctx.database.crm_customers
    found = collection.find(caller.rows(), CUSTOMER_FIELDS).sort([("created_at", -1), ("_id", -1)])
    rows, total = await asyncio.gather(
        found.skip((page - 1) * size).limit(size).to_list(None), collection.count_documents(caller.rows())
    )
    items = [wire(row, CUSTOMER_FIELDS) for row in rows]
    return answer({"items": items, "total": total, "page": page, "page_size": size})


@app.post("/api/v1/bench/records")
async def create(request: Request) -> HTTPResponse:
    """Serve W5."""
    caller = person(request, "/api/v1/bench/records")
    try:
        body = RecordBody.model_validate_json(request.body)
    except ValidationError as error:
        raise Refused(400, 40001) from error
    document = caller.stamped(body)
    await request.app.ctx.database.bench_records.insert_one(document)
    return answer(wire(document, RECORD_FIELDS))


@app.get("/api/dashboard/sales-trend")
async def sales_trend(request: Request) -> HTTPResponse:
    """Serve W6."""
    pipeline, names = trend_pipeline(person(request, "/api/dashboard/sales-trend"), int(request.args.get("days", "30")))
    cursor = await request.app.ctx.database.crm_payments.aggregate(pipeline)
    return answer(trend(await cursor.to_list(None), names))


@app.post("/api/v1/auth/login")
async def login(request: Request) -> HTTPResponse:
    """Serve the log-ins of W7."""
    given = request.json
    user = await request.app.ctx.database.rbac_users.find_one({"username": given["username"]})
    check = asyncio.get_running_loop().run_in_executor(
        None, bcrypt.checkpw, given["password"].encode(), WORLD["hash"].encode()
    )
    if user is None or not await check:
        raise Refused(400, 40010)
    return answer(tokens(user))


if __name__ == "__main__":
    app.run("127.0.0.1", int(sys.argv[1]), single_process=True, access_log=False, motd=False)
