"""What a FastAPI service writes once for all its resources: who asks, envelopes, refusals, lists, stamps.

`fastapi_contacts.py` is counted, this file is not: Tradewind's own core is not counted either.
"""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

from bson import ObjectId
from fastapi import Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from pymongo.asynchronous.database import AsyncDatabase

Row = dict[str, Any]
Data = TypeVar("Data")
Id = Annotated[str, Path(pattern="^[0-9a-f]{24}$")]


class Envelope(BaseModel, Generic[Data]):
    """What every answer is."""

    code: int = 0
    msg: str = "成功"
    data: Data


class Page(BaseModel, Generic[Data]):
    """A page of a list."""

    items: list[Data]
    total: int | None
    page: int
    page_size: int
    next_cursor: str | None


class Strict(BaseModel):
    """A body that knows all its fields."""

    model_config = ConfigDict(extra="forbid")


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, code: int, errors: list[Row] | None = None) -> None:
        super().__init__(code)
        self.status, self.code, self.errors = status, code, errors


def at_fault(name: str, rule: str) -> Refused:
    """A 40001 that names the field."""
    return Refused(400, 40001, [{"field": name, "rule": rule}])


@dataclass
class Actor:
    """Who asks, what they may do, and which rows they see."""

    id: int
    department_id: int | None = None
    permissions: frozenset[str] = frozenset()
    everything: bool = False
    departments: list[int] = field(default_factory=list)

    def rows(self) -> Row:
        """The filter for the rows in sight."""
        if self.everything:
            return {"deleted": False}
        seen = [{"creator_department_id": {"$in": self.departments}}, {"creator_id": self.id}, {"shared_with": self.id}]
        return {"deleted": False, "$or": seen}

    def may_edit(self, row: Mapping[str, Any]) -> bool:
        """Whether a row in sight may be changed."""
        return (
            self.everything
            or row["creator_department_id"] in self.departments
            or self.id in (row["creator_id"], row["owner_id"], *row.get("editors", ()))
        )

    def stamp(self) -> Row:
        """The audit fields of a new row."""
        now = datetime.now(UTC)
        return {
            "version": 1,
            "creator_id": self.id,
            "creator_department_id": self.department_id,
            "created_at": now,
            "updated_at": now,
            "updater_id": self.id,
            "deleted": False,
        }

    def touch(self, values: Mapping[str, Any]) -> Row:
        """The update operators of a change."""
        return {"$set": {**values, "updated_at": datetime.now(UTC), "updater_id": self.id}, "$inc": {"version": 1}}


def caller(permission: str) -> Any:
    """The actor, if they hold `permission`: as a dependency."""

    async def checked(request: Request) -> Actor:
        actor: Actor | None = await request.app.state.authenticate(request)
        if actor is None:
            raise Refused(401, 40100)
        if not actor.everything and permission not in actor.permissions:
            raise Refused(403, 40300)
        return actor

    return Depends(checked)


def database(request: Request) -> AsyncDatabase[Row]:
    """The database: as a dependency."""
    found: AsyncDatabase[Row] = request.app.state.database
    return found


Database = Annotated[AsyncDatabase[Row], Depends(database)]


def wire(row: Row) -> Row:
    """A document as the models read it."""
    return {
        **row,
        "id": str(row["_id"]),
        **{name: str(value) for name, value in row.items() if isinstance(value, ObjectId)},
    }


def search_values(values: list[Any]) -> Row:
    """What `q` looks in."""
    text = "\n".join(unicodedata.normalize("NFKC", str(value)).casefold() for value in values if value)
    return {"search_text": text}


def search_filter(q: str) -> Row:
    """The filter for what a person typed."""
    return {"search_text": {"$regex": re.escape(unicodedata.normalize("NFKC", q).casefold())}}


async def page_of(
    collection: Any,
    matching: Row,
    sort: str,
    sortable: set[str],
    page: int,
    page_size: int,
    with_total: bool,
    cursor: str | None,
) -> Row:
    """A page by number or by cursor."""
    name, direction = sort.removeprefix("-"), -1 if sort.startswith("-") else 1
    if name not in sortable:
        raise at_fault("sort", "sort")
    wanted = matching
    if cursor:
        try:
            order, raw, id = json.loads(base64.urlsafe_b64decode(cursor))
            value = datetime.fromisoformat(raw) if name.endswith("_at") else raw
            if order != sort:
                raise ValueError
        except ValueError as error:
            raise at_fault("cursor", "cursor") from error
        beyond = "$lt" if direction < 0 else "$gt"
        behind = [{name: {beyond: value}}, {name: value, "_id": {beyond: ObjectId(id)}}]
        wanted = {"$and": [matching, {"$or": behind}]}
    found = collection.find(wanted).sort([(name, direction), ("_id", direction)])
    rows = await found.skip(0 if cursor else (page - 1) * page_size).limit(page_size + 1).to_list()
    more, rows, after = len(rows) > page_size, rows[:page_size], None
    if more:
        value = rows[-1][name]
        last = [sort, value.isoformat() if isinstance(value, datetime) else value, str(rows[-1]["_id"])]
        after = base64.urlsafe_b64encode(json.dumps(last).encode()).decode()
    total = await collection.count_documents(matching) if with_total else None
    return {
        "items": [wire(row) for row in rows],
        "total": total,
        "page": page,
        "page_size": page_size,
        "next_cursor": after,
    }


def answering(app: FastAPI) -> FastAPI:
    """Refusals as envelopes."""

    @app.exception_handler(Refused)
    async def refused(_request: Request, error: Refused) -> JSONResponse:
        data = None if error.errors is None else {"errors": error.errors}
        return JSONResponse({"code": error.code, "msg": "失败", "data": data}, error.status)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        errors = [{"field": str(one["loc"][-1]), "rule": one["type"]} for one in error.errors()]
        return JSONResponse({"code": 40001, "msg": "失败", "data": {"errors": errors}}, 400)

    return app
