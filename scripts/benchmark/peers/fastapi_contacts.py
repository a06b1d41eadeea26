"""Contacts, as `plugins/crm/contacts.py` and its declarations have them, written by hand in FastAPI."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from bson import ObjectId
from fastapi import APIRouter, Query
from pydantic import BaseModel, EmailStr, Field
from pymongo import ReturnDocument
from pymongo.asynchronous.client_session import AsyncClientSession

from scripts.benchmark.peers.fastapi_shared import (
    Actor,
    Database,
    Envelope,
    Id,
    Page,
    Refused,
    Row,
    Strict,
    at_fault,
    caller,
    page_of,
    search_filter,
    search_values,
    wire,
)

router = APIRouter(prefix="/api/v1/crm/contacts", tags=["crm"])
SORTABLE = {"name", "created_at", "updated_at"}
SEARCHED = ("name", "phone", "mobile", "email")
INDEXES = (
    [("customer_id", 1), ("created_at", -1)],
    [("owner_id", 1), ("created_at", -1)],
    [("created_at", -1)],
    [("updated_at", -1)],
    [("search_text", 1)],
)


class ContactUpdate(Strict):
    """What a change may give."""

    customer_id: str | None = Field(None, pattern="^[0-9a-f]{24}$")
    name: str | None = Field(None, min_length=1, max_length=100, pattern=r"\S", examples=["王芳"])
    title: str | None = Field(None, max_length=100, examples=["采购经理"])
    phone: str | None = Field(None, max_length=50, examples=["021-5555 0101"])
    mobile: str | None = Field(None, max_length=50, examples=["13800000000"])
    email: EmailStr | None = Field(None, examples=["wang@example.com"])
    is_primary: bool = Field(False, description="The one to ask first; one for each customer.")
    remark: str | None = Field(None, max_length=2000)
    version: int | None = Field(None, ge=1)


class ContactCreate(ContactUpdate):
    """What a new contact needs."""

    customer_id: str = Field(pattern="^[0-9a-f]{24}$")
    name: str = Field(min_length=1, max_length=100, pattern=r"\S", examples=["王芳"])
    version: None = Field(None, exclude=True)


class Contact(BaseModel):
    """A contact as it is answered."""

    id: str
    customer_id: str
    name: str
    title: str | None = None
    phone: str | None = None
    mobile: str | None = None
    email: str | None = None
    is_primary: bool
    remark: str | None = None
    owner_id: int | None = None
    version: int
    creator_id: int
    creator_department_id: int | None
    updater_id: int
    created_at: datetime
    updated_at: datetime


class ContactQuery(Strict):
    """What a list may be asked for."""

    page: int = Field(1, ge=1)
    page_size: int = Field(20, ge=1, le=200)
    with_total: bool = True
    cursor: str | None = None
    sort: str = "-created_at"
    q: str | None = Field(None, max_length=200)
    customer_id: str | None = Field(None, pattern="^[0-9a-f]{24}$")
    owner_id: int | None = None
    is_primary: bool | None = None
    created_at_from: datetime | None = None
    created_at_to: datetime | None = None
    updated_at_from: datetime | None = None
    updated_at_to: datetime | None = None

    def filter(self) -> list[Row]:
        """As MongoDB clauses."""
        given = {"owner_id": self.owner_id, "is_primary": self.is_primary}
        clauses: list[Row] = [{name: value} for name, value in given.items() if value is not None]
        if self.customer_id:
            clauses.append({"customer_id": ObjectId(self.customer_id)})
        for name in ("created_at", "updated_at"):
            for end, operator in (("from", "$gte"), ("to", "$lte")):
                moment = getattr(self, f"{name}_{end}")
                if moment is not None:
                    clauses.append({name: {operator: moment}})
        if self.q:
            clauses.append(search_filter(self.q))
        return clauses


@router.get("", summary="List contacts")
async def list_contacts(
    query: Annotated[ContactQuery, Query()], db: Database, actor: Annotated[Actor, caller("crm:contact:list")]
) -> Envelope[Page[Contact]]:
    """A page of contacts in sight."""
    matching = {"$and": [actor.rows(), *query.filter()]}
    paging = (query.page, query.page_size, query.with_total, query.cursor)
    return Envelope(data=await page_of(db.crm_contacts, matching, query.sort, SORTABLE, *paging))  # type: ignore[arg-type]


@router.get("/{id}", summary="Read a contact")
async def read_contact(id: Id, db: Database, actor: Annotated[Actor, caller("crm:contact:read")]) -> Envelope[Contact]:
    """One contact."""
    return Envelope(data=wire(await in_sight(db, actor, id)))  # type: ignore[arg-type]


@router.post("", summary="Create a contact")
async def create_contact(
    body: ContactCreate, db: Database, actor: Annotated[Actor, caller("crm:contact:create")]
) -> Envelope[Contact]:
    """A contact; a primary one takes the place of the one before."""
    values = body.model_dump(exclude={"version"})
    customer = await customer_of(db, actor, values["customer_id"])
    row = {"_id": ObjectId(), **values, **below(customer, actor.id), **searched(values), **actor.stamp()}

    async def work(session: AsyncClientSession) -> None:
        await db.crm_contacts.insert_one(row, session=session)
        await only_primary(db, row, session)

    async with db.client.start_session() as session:
        await session.with_transaction(work)
    return Envelope(data=wire(row))  # type: ignore[arg-type]


@router.patch("/{id}", summary="Change a contact")
async def update_contact(
    id: Id, body: ContactUpdate, db: Database, actor: Annotated[Actor, caller("crm:contact:update")]
) -> Envelope[Contact]:
    """Change a contact."""
    values = body.model_dump(exclude_unset=True)
    version = values.pop("version", None)
    for name in ("customer_id", "name", "is_primary"):
        if values.get(name, ...) is None:
            raise at_fault(name, "required")

    async def work(session: AsyncClientSession) -> Row:
        before = await editable(db, actor, id, session)
        changes: Row = {**values, **searched({**before, **values})}
        if "customer_id" in values and ObjectId(values["customer_id"]) != before["customer_id"]:
            customer = await customer_of(db, actor, values["customer_id"])
            changes |= below(customer, before["creator_id"])
        else:
            changes.pop("customer_id", None)
        matching = {"_id": before["_id"], "deleted": False, **({"version": version} if version is not None else {})}
        after: Row | None = await db.crm_contacts.find_one_and_update(
            matching, actor.touch(changes), return_document=ReturnDocument.AFTER, session=session
        )
        if after is None:
            raise Refused(409, 40902)
        await only_primary(db, after, session)
        return after

    async with db.client.start_session() as session:
        return Envelope(data=wire(await session.with_transaction(work)))  # type: ignore[arg-type]


@router.delete("/{id}", summary="Delete a contact")
async def delete_contact(id: Id, db: Database, actor: Annotated[Actor, caller("crm:contact:delete")]) -> Envelope[None]:
    """Delete a contact softly."""
    row = await editable(db, actor, id)
    gone = {"deleted": True, "deleted_at": datetime.now(UTC)}
    await db.crm_contacts.update_one({"_id": row["_id"], "deleted": False}, actor.touch(gone))
    return Envelope(data=None)


async def in_sight(db: Database, actor: Actor, id: str, session: AsyncClientSession | None = None) -> Row:
    """The contact; 40400 where the actor sees none."""
    row: Row | None = await db.crm_contacts.find_one({"$and": [{"_id": ObjectId(id)}, actor.rows()]}, session=session)
    if row is None:
        raise Refused(404, 40400)
    return row


async def editable(db: Database, actor: Actor, id: str, session: AsyncClientSession | None = None) -> Row:
    """The contact, for a change; 40300 where the actor may only read it."""
    row = await in_sight(db, actor, id, session)
    if not actor.may_edit(row):
        raise Refused(403, 40300)
    return row


async def customer_of(db: Database, actor: Actor, id: str) -> Row:
    """The customer that a body names; 40001 where the actor sees none, 40300 where they may only read it."""
    customer: Row | None = await db.crm_customers.find_one({"$and": [{"_id": ObjectId(id)}, actor.rows()]})
    if customer is None:
        raise at_fault("customer_id", "reference")
    if not actor.may_edit(customer):
        raise Refused(403, 40300)
    return customer


def below(customer: Row, creator_id: int) -> Row:
    """The customer, its owner, and who sees and changes what is below it."""
    owner = [customer["owner_id"]] if customer["owner_id"] is not None else []
    people = {one["user_id"]: one["access"] for one in customer.get("collaborators", ())}
    editors = sorted({*owner, *(id for id, access in people.items() if access == "write")})
    shared = sorted({*owner, *people} - {creator_id})
    return {"customer_id": customer["_id"], "owner_id": customer["owner_id"], "shared_with": shared, "editors": editors}


async def only_primary(db: Database, contact: Row, session: AsyncClientSession) -> None:
    """A primary contact is the only one of its customer."""
    if contact["is_primary"]:
        others = {"customer_id": contact["customer_id"], "is_primary": True, "_id": {"$ne": contact["_id"]}}
        await db.crm_contacts.update_many(
            others, {"$set": {"is_primary": False}, "$inc": {"version": 1}}, session=session
        )


def searched(values: Row) -> dict[str, Any]:
    """What `q` looks in."""
    return search_values([values.get(name) for name in SEARCHED])
