"""Passing: requests that a pass lets in where the caller has no permission."""

from __future__ import annotations

from handlers.data.collection import Collection
from handlers.data.passes import Passage
from handlers.request import Request
from handlers.schema.errors import ApiError
from handlers.schema.messages import Message
from handlers.schema.values import Query, RecordId
from handlers.service import Service


async def is_admitted(request: Request, collection: str, query: Query) -> bool:
    """Whether the caller is asked about the record in the path, or about what the list with this query is below."""
    rules, passage = request.service.database.collections[collection], request.passage
    if passage is None:
        return False
    if "id" in request.path:
        return await pass_for(passage, request.service, rules, request.path["id"]) is not None
    return await passage.admits_list(rules, query)


async def pass_for(passage: Passage, service: Service, collection: Collection, id: RecordId) -> Message | None:
    """Why the passage admits the record with this id; None where it does not, or there is no such record.

    The record is read only if it may be admitted.
    """
    try:
        own = await passage.reason(collection, {"id": collection.parse_id(id)})
        if own is None and not passage.depends(collection):
            return None
        record = await service.database.store(collection).get(id)
    except ApiError:
        return None
    return own or await passage.reason(collection, record)
