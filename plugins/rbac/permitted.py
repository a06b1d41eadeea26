"""Finds the users who hold a permission, so that they can be notified."""

from __future__ import annotations

from plugins.api import Service
from plugins.rbac.policy import Policy
from plugins.rbac.records import USERS


async def people_permitted(service: Service, permission: str) -> list[int]:
    """Return the ids of the enabled users who hold a permission code, including super administrators."""
    rules = await service.part(Policy).rules()
    roles = [id for id in rules.enabled(rules.roles) if permission in rules.grant(frozenset({id})).permissions]
    holders = {"status": "enabled", "$or": [{"is_super": True}, {"_id": 1}, {"role_ids": {"$in": roles}}]}
    return [user["id"] for user in await service.database.store(USERS).find(holders, fields=["username"])]
