"""Handover of customers, leads, opportunities and contracts, with the same effects as a change of owner by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from plugins.api import Message, Record
from plugins.api.records import Holding, Move
from plugins.crm.contract_records import CONTRACTS
from plugins.crm.contracts import move_below
from plugins.crm.customers import build_owner_change
from plugins.crm.ownership import build_child_sharing, build_sharing, propagate_owner, propagate_sharing
from plugins.crm.record_types import Contract, Customer, Lead, Opportunity
from plugins.crm.records import CUSTOMERS, LEADS, OPPORTUNITIES

One = TypeVar("One")


async def _move_customers(move: Move, customers: Sequence[Customer]) -> None:
    """Move customers and all that belongs to them. Those with the same creator and collaborators move together."""
    for alike in _group(customers, lambda one: (one["creator_id"], repr(one["collaborators"]))):
        changes = build_owner_change(move.req, alike[0], move.to_id)
        ids = [one["id"] for one in alike]
        await move.store.update_many({"_id": {"$in": ids}}, {"$set": changes})
        moved: Customer = {**alike[0], "owner_id": move.to_id, "collaborators": changes["collaborators"]}
        await propagate_owner(move.req.system_store, moved, ids[1:])


def _group(records: Sequence[One], key: Callable[[One], Hashable]) -> Iterable[list[One]]:
    """Return the records in groups that have the same key."""
    groups: defaultdict[Hashable, list[One]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups.values()


async def _move_collaborations(move: Move, customers: Sequence[Customer]) -> None:
    for customer in customers:
        people = _with_receiver(customer, move)
        shared = build_sharing(customer["owner_id"], people, customer["creator_id"])
        changed = await move.store.update(customer["id"], {"collaborators": people, **shared})
        await propagate_sharing(move.req.system_store, changed)


def _with_receiver(customer: Customer, move: Move) -> list[Record]:
    """Return the collaborators, with the receiver in place of the person who hands over.

    A receiver who already is a collaborator gets the wider access of the two. The owner is left out.
    """
    access: dict[int | None, str] = {}
    for one in customer["collaborators"]:
        user_id = move.to_id if one["user_id"] == move.from_id else one["user_id"]
        access[user_id] = "write" if "write" in (one["access"], access.get(user_id)) else one["access"]
    access.pop(customer["owner_id"], None)
    return [{"user_id": user_id, "access": given} for user_id, given in access.items()]


async def _move_leads(move: Move, leads: Sequence[Lead]) -> None:
    for alike in _group(leads, lambda one: one["creator_id"]):
        changes = {"owner_id": move.to_id, **build_sharing(move.to_id, (), alike[0]["creator_id"])}
        await move.store.update_many({"_id": {"$in": [one["id"] for one in alike]}}, {"$set": changes})


async def _move_children(move: Move, records: Sequence[Opportunity | Contract]) -> None:
    """Move records whose customers belong to somebody else."""
    for record in records:
        customer = await move.req.system_store(CUSTOMERS).get(record["customer_id"])
        shared = build_child_sharing(customer, move.to_id, record["creator_id"])
        changed = await move.store.update(record["id"], {"owner_id": move.to_id, **shared})
        if move.holding.collection is CONTRACTS:
            await move_below(move.req, changed)


HOLDINGS = (
    # customers come first, because their records move with them
    Holding(CUSTOMERS, "owner_id", _move_customers),
    Holding(CUSTOMERS, "collaborators.user_id", _move_collaborations, label=Message("协作人", "Collaborator")),
    Holding(LEADS, "owner_id", _move_leads),
    Holding(OPPORTUNITIES, "owner_id", _move_children),
    Holding(CONTRACTS, "owner_id", _move_children),
)
