"""Passing: requests that a pass lets in although the caller lacks the permission."""

from __future__ import annotations

from handlers.data.collection import Collection
from handlers.data.visible.delegated_access import Passage
from handlers.query_string import parse_query
from handlers.request import Request
from handlers.route import Route
from handlers.schema.errors import ApiError
from handlers.schema.messages import Message
from handlers.schema.values import RecordId
from handlers.service import Service


async def is_admitted(request: Request, route: Route) -> bool:
    """Return whether a pass lets the request in: to the record in its path, or a list below the record in its query."""
    passage = request.passage
    if passage is None or not route.passable:
        return False
    try:
        query = route.check_query(parse_query(request.raw_query))
    except ApiError:
        return False  # without the permission nobody learns what is wrong with the query
    rules = request.service.database.collections[route.collection]
    if "id" in request.path:
        return await pass_for(passage, request.service, rules, request.path["id"]) is not None
    return await passage.admits_list(rules, query)


async def pass_for(passage: Passage, service: Service, collection: Collection, id: RecordId) -> Message | None:
    """Return why the passage admits the record with this id, or None if it does not or there is no such record.

    The record is read only if it could be admitted.
    """
    try:
        own = await passage.reason(collection, {"id": collection.parse_id(id)})
        if own is None and not passage.depends(collection):
            return None
        record = await service.database.store(collection).get(id)
    except ApiError:
        return None
    return own or await passage.reason(collection, record)
