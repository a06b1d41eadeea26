"""`holds`: the routes to put records on hold, with a reason, and to release them.

A record on hold keeps its state and can be edited as before; the actions that declare `waits` are refused.
"""

from __future__ import annotations

from handlers.data.collection import Collection
from handlers.request import Request
from handlers.route import Handler, Refusal, Route, conflicts, route
from handlers.schema.errors import STALE
from handlers.schema.fields import Field, boolean, integer, shape, text, timestamp
from handlers.schema.messages import Message
from handlers.schema.values import Record
from plugins.records.lifecycles import VERSION, VERSION_BODY, Find
from plugins.records.transitions import find_visible
from plugins.records.wording import noun_of, with_article

_REASON = text(label=("挂起原因", "Reason for the hold"), max_length=500)
_DISPUTED = boolean(
    label=("有争议", "Disputed"), description="Whether it is on hold because the other party disputes it."
)
_BODY = shape(
    "HoldBody",
    reason=_REASON.but(required=True, nullable=False, example="客户对价格有异议"),
    disputed=_DISPUTED,
    version=VERSION,
)
NOT_HOLDABLE = Message("已挂起或已结束，不能挂起", "It is already on hold or has ended, so it cannot be put on hold")
NOT_ON_HOLD = Message("未挂起", "It is not on hold")


def hold_fields() -> dict[str, Field]:
    """Return the fields of a collection whose records can be put on hold."""
    return {
        "on_hold": boolean(
            label=("已挂起", "On hold"),
            read_only=True,
            nullable=True,
            default=False,
            filter=True,
            description="Null in records of earlier versions, which means false.",
        ),
        "hold_reason": _REASON.but(read_only=True),
        "disputed": _DISPUTED.but(
            read_only=True,
            nullable=True,
            default=False,
            filter=True,
            description="Null in records of earlier versions, which means false.",
        ),
        "held_at": timestamp(label=("挂起时间", "Held at"), read_only=True),
        "held_by": integer(label=("挂起人", "Held by"), read_only=True, ref="users"),
    }


def holds(
    collection: Collection,
    *,
    hold: str,
    release: str,
    access: str,
    find: Find = find_visible,
    refusals: tuple[Refusal, ...] = (),
) -> tuple[Route, ...]:
    """Return the routes `hold` (`POST …/{id}/hold`) and `release` of a collection with states and the `hold_fields`.

    `find` gets the record, as in `transitions`. Records in a state that no action leaves cannot be put on hold. Raises
    ValueError for a collection without states or these fields.
    """
    if collection.states is None or not set(hold_fields()) <= set(collection.fields):
        raise ValueError(f"holds of {collection.name}: it needs states and the hold_fields")
    hold_record, release_record = _make_handlers(collection, find)
    one, machine = with_article(noun_of(collection)), collection.machine
    return (
        route(
            hold,
            hold_record,
            summary=f"Put {one} on hold",
            effect=("挂起期间不能继续处理，直到解除挂起。", "It has to wait until it is released."),
            access=access,
            body=_BODY,
            record=collection,
            errors=(STALE,),
            refusals=(*refusals, *conflicts(NOT_HOLDABLE)),
            fits={"on_hold": False, machine.field: tuple(one for one in machine.states if one not in machine.ended)},
        ),
        route(
            release,
            release_record,
            summary=f"Release {one} that is on hold",
            effect=("之后可以继续处理。", "Work on it can go on."),
            title=("解除挂起", "Release"),
            access=access,
            body=VERSION_BODY,
            record=collection,
            errors=(STALE,),
            refusals=(*refusals, *conflicts(NOT_ON_HOLD)),
            fits={"on_hold": True},
        ),
    )


def _make_handlers(collection: Collection, find: Find) -> tuple[Handler, Handler]:
    """Return the handlers of `hold` and of `release`."""
    machine = collection.machine
    holdable = {"on_hold": {"$ne": True}, machine.field: {"$nin": sorted(machine.ended)}}

    async def hold_record(req: Request) -> Record:
        values = {
            "on_hold": True,
            "hold_reason": req.body["reason"],
            "disputed": req.body.get("disputed") is True,
            "held_at": req.now,
            "held_by": req.actor.user_id,
        }
        return await change(req, values, holdable, NOT_HOLDABLE)

    async def release_record(req: Request) -> Record:
        values = {"on_hold": False, "hold_reason": None, "disputed": False, "held_at": None, "held_by": None}
        return await change(req, values, {"on_hold": True}, NOT_ON_HOLD)

    async def change(req: Request, values: Record, where: Record, refusal: Message) -> Record:
        record, version = await find(req, collection, req.path["id"]), (req.body or {}).get("version")
        store = req.system_store(collection)
        return await store.update(record["id"], values, version=version, where=where, reason=refusal)

    return hold_record, release_record
