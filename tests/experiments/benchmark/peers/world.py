"""What the peers in Python share: who may do what, which rows they see, and the form of a record in a response."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import jwt
import orjson
from bson import Decimal128, ObjectId
from pydantic import BaseModel, ConfigDict, Field, condecimal
from pymongo import MongoClient

WORLD: dict[str, Any] = json.loads(Path(os.environ["BENCH_WORLD"]).read_text())
OPTIONS: dict[str, Any] = {"w": "majority", "readConcernLevel": "majority", "tz_aware": True, "maxPoolSize": 100}
SHANGHAI = timezone(timedelta(hours=8))
CUSTOMER_FIELDS: list[str] = WORLD["customer_fields"]
RECORD_FIELDS: list[str] = WORLD["record_fields"]
Row = dict[str, Any]


class Refused(Exception):
    """A response that is not a success: its HTTP status and code."""

    def __init__(self, status: int, code: int) -> None:
        super().__init__(code)
        self.status, self.code = status, code


class RecordBody(BaseModel):
    """The body of a request that creates a record, with twelve fields."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200, pattern=r"\S")
    code: str = Field(min_length=1, max_length=64, pattern=r"^[A-Z0-9-]+$")
    industry: str | None = Field(None, max_length=64)
    level: Literal["A", "B", "C"] | None = None
    source: str | None = Field(None, max_length=64)
    phone: str | None = Field(None, max_length=50, pattern=r"^[0-9 +-]*$")
    email: str | None = Field(None, max_length=200, pattern=r"^[^@\s]+@[^@\s]+$")
    website: str | None = Field(None, max_length=300)
    address: str | None = Field(None, max_length=500)
    amount: condecimal(ge=0, max_digits=15, decimal_places=2) | None = None  # type: ignore[valid-type]  # a type made by a call
    tags: list[str] = Field(default_factory=list, max_length=50)
    remark: str | None = Field(None, max_length=2000)


@dataclass(frozen=True)
class Person:
    """A user and what their roles allow: the permitted operations, and the departments whose rows they see."""

    id: int
    department_id: int | None
    apis: frozenset[tuple[str, str]]
    is_super: bool
    everything: bool
    departments: tuple[int, ...]

    def rows(self) -> Row:
        """Return the filter for rows that are in scope and not deleted."""
        if self.everything:
            return {"deleted": False}
        seen = [{"creator_department_id": {"$in": list(self.departments)}}, {"shared_with": self.id}]
        return {"$and": [{"deleted": False}, {"$or": seen}]}

    def stamped(self, body: RecordBody) -> Row:
        """Return a new record with its audit fields."""
        now = datetime.now(UTC)
        values = body.model_dump()
        if isinstance(values["amount"], Decimal):
            values["amount"] = Decimal128(values["amount"].quantize(Decimal("0.01")))
        return {
            "_id": ObjectId(),
            **values,
            "version": 1,
            "creator_id": self.id,
            "creator_department_id": self.department_id,
            "created_at": now,
            "updated_at": now,
            "updater_id": self.id,
            "deleted": False,
        }


def load_people() -> dict[int, Person]:
    """Return everybody with their grants, from the service's own collections."""
    with MongoClient(WORLD["uri"]) as client:
        database = client[WORLD["database"]]
        roles = {role["_id"]: role for role in database.rbac_roles.find({"deleted": False})}
        entries: dict[int, set[tuple[str, str]]] = {id: set() for id in roles}
        for menu in database.rbac_menus.find({"deleted": False}):
            for role in menu.get("role_ids") or ():
                entries.get(role, set()).update((api["method"], api["path"]) for api in menu.get("apis") or ())
        below: dict[int, set[int]] = {}
        for one in database.rbac_departments.find({"deleted": False}):
            for ancestor in (*(one.get("ancestors") or ()), one["_id"]):
                below.setdefault(ancestor, set()).add(one["_id"])
        return {user["_id"]: _person(user, roles, entries, below) for user in database.rbac_users.find()}


def _person(
    user: Row, roles: Mapping[int, Row], entries: Mapping[int, set[Any]], below: Mapping[int, set[int]]
) -> Person:
    held = [roles[id] for id in user.get("role_ids") or () if id in roles]
    department = user.get("department_id")
    is_super = bool(user.get("is_super")) or user["_id"] == 1
    return Person(
        user["_id"],
        department,
        frozenset().union(*(entries[role["_id"]] for role in held)),
        is_super,
        is_super or any(role["data_scope"] == "all" for role in held),
        tuple(sorted(below.get(department, ()))),
    )


def authorized(people: Mapping[int, Person], header: str | None, method: str, path: str) -> Person:
    """Return the person who sends the request. Raises `Refused` with 401 or 403 if they may not."""
    if not header or not header.startswith("Bearer "):
        raise Refused(401, 40100)
    try:
        claims = jwt.decode(header[7:], WORLD["secret"], algorithms=["HS256"], options={"require": ["exp"]})
    except jwt.ExpiredSignatureError as error:
        raise Refused(401, 40101) from error
    except jwt.InvalidTokenError as error:
        raise Refused(401, 40100) from error
    person = people.get(claims["user_id"])
    if person is None:
        raise Refused(401, 40100)
    if not person.is_super and (method, path) not in person.apis:
        raise Refused(403, 40300)
    return person


def wire(row: Row, fields: list[str]) -> Row:
    """Return a document in the form of a response."""
    row["id"] = row.pop("_id")
    return {name: row.get(name) for name in fields}


def envelope(data: Any, code: int = 0) -> bytes:
    """Return the body of a response."""
    return orjson.dumps(
        {"code": code, "msg": "成功" if code == 0 else "失败", "data": data},
        default=_encode,
        option=orjson.OPT_PASSTHROUGH_DATETIME,
    )


def _encode(value: Any) -> Any:
    if isinstance(value, ObjectId):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    if isinstance(value, Decimal128):
        return str(value.to_decimal())
    raise TypeError(type(value).__name__)


def trend_pipeline(person: Person, days: int) -> tuple[list[Row], list[str]]:
    """Return the stages of the sales trend, and the names of its days."""
    today = datetime.now(SHANGHAI).replace(hour=0, minute=0, second=0, microsecond=0)
    first = today - timedelta(days=days - 1)
    day = {"$dateTrunc": {"date": "$paid_at", "unit": "day", "timezone": "Asia/Shanghai"}}
    matching = {"$and": [person.rows(), {"paid_at": {"$gte": first, "$lt": today + timedelta(days=1)}}]}
    group = {"_id": day, "amount": {"$sum": "$amount"}, "count": {"$sum": 1}}
    names = [(first + timedelta(days=number)).date().isoformat() for number in range(days)]
    return [{"$match": matching}, {"$group": group}], names


def trend(rows: list[Row], names: list[str]) -> Row:
    """Return the data of the sales trend: every day, in order."""
    found = {row["_id"].astimezone(SHANGHAI).date().isoformat(): row for row in rows}
    items = []
    for name in names:
        row = found.get(name)
        amount = format(row["amount"].to_decimal(), ".2f") if row else "0.00"
        items.append({"date": name, "amount": amount, "count": row["count"] if row else 0})
    return {"items": items, "days": len(names)}


def tokens(user: Row) -> Row:
    """Return the data of a log-in: the two tokens."""
    now = int(time.time())
    claims = {"user_id": user["_id"], "roles": [], "iat": now}
    return {
        "accessToken": jwt.encode({**claims, "exp": now + 1800}, WORLD["secret"], algorithm="HS256"),
        "refreshToken": jwt.encode({**claims, "exp": now + 7 * 86400}, WORLD["secret"], algorithm="HS256"),
    }
