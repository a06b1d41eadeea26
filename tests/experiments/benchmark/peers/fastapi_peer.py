"""The works on FastAPI over PyMongo's asynchronous client: `python -m tests.experiments.benchmark.peers.fastapi_peer PORT`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import bcrypt
import uvicorn
from bson import ObjectId
from fastapi import Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from pymongo import AsyncMongoClient
from starlette.concurrency import run_in_threadpool

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


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Provide the database and the people while the program runs."""
    app.state.database = AsyncMongoClient(WORLD["uri"], **OPTIONS)[WORLD["database"]]
    app.state.people = load_people()
    yield


app = FastAPI(lifespan=lifespan, openapi_url=None)


def answer(data: Any, status: int = 200, code: int = 0) -> Response:
    """Return an envelope."""
    return Response(envelope(data, code), status, media_type="application/json")


async def person(request: Request, authorization: Annotated[str | None, Header()] = None) -> Person:
    """Return the person who sends the request, if they may."""
    return authorized(request.app.state.people, authorization, request.method, request.scope["route"].path)


Caller = Annotated[Person, Depends(person)]


@app.exception_handler(Refused)
async def refused(request: Request, error: Refused) -> Response:
    """Return the response for a refusal."""
    return answer(None, error.status, error.code)


@app.exception_handler(RequestValidationError)
async def invalid(request: Request, error: RequestValidationError) -> Response:
    """Return the response for an invalid body or query."""
    return answer(None, 400, 40001)


@app.get("/api/health")
async def health() -> Response:
    """Serve W1."""
    return answer({"status": "ok"})


@app.get("/api/v1/bench/ping")
async def ping(caller: Caller) -> Response:
    """Serve W2."""
    return answer({"status": "ok"})


@app.get("/api/v1/crm/customers/{id}")
async def customer(request: Request, id: str, caller: Caller) -> Response:
    """Serve W3."""
    matching = {"$and": [{"_id": ObjectId(id)}, caller.rows()]}
    row = await request.app.state.database.crm_customers.find_one(matching, CUSTOMER_FIELDS)
    if row is None:
        raise Refused(404, 40400)
    return answer(wire(row, CUSTOMER_FIELDS))


@app.get("/api/v1/crm/customers")
async def customers(
    request: Request,
    caller: Caller,
    page: Annotated[int, Query(ge=1)] = 1,
    page_size: Annotated[int, Query(ge=1, le=200)] = 20,
) -> Response:
    """Serve W4 and W4w."""
    collection = request.app.state.database.crm_customers
    found = collection.find(caller.rows(), CUSTOMER_FIELDS).sort([("created_at", -1), ("_id", -1)])
    rows, total = await asyncio.gather(
        found.skip((page - 1) * page_size).limit(page_size).to_list(None), collection.count_documents(caller.rows())
    )
    items = [wire(row, CUSTOMER_FIELDS) for row in rows]
    return answer({"items": items, "total": total, "page": page, "page_size": page_size})


@app.post("/api/v1/bench/records")
async def create(request: Request, body: RecordBody, caller: Caller) -> Response:
    """Serve W5."""
    document = caller.stamped(body)
    await request.app.state.database.bench_records.insert_one(document)
    return answer(wire(document, RECORD_FIELDS))


@app.get("/api/dashboard/sales-trend")
async def sales_trend(request: Request, caller: Caller, days: Annotated[int, Query(ge=1, le=366)] = 30) -> Response:
    """Serve W6."""
    pipeline, names = trend_pipeline(caller, days)
    cursor = await request.app.state.database.crm_payments.aggregate(pipeline)
    return answer(trend(await cursor.to_list(None), names))


class LoginBody(BaseModel):
    """A name and a password."""

    username: str
    password: str


@app.post("/api/v1/auth/login")
async def login(request: Request, body: LoginBody) -> Response:
    """Serve the log-ins of W7."""
    user = await request.app.state.database.rbac_users.find_one({"username": body.username})
    hashed = WORLD["hash"].encode()
    if user is None or not await run_in_threadpool(bcrypt.checkpw, body.password.encode(), hashed):
        raise Refused(400, 40010)
    return answer(tokens(user))


if __name__ == "__main__":
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )
