"""The people: user records by id, kept in memory until they change."""

from __future__ import annotations

from typing import Any

from plugins.api import Actor, Database, RecordCache, Request
from plugins.rbac.policy import Policy
from plugins.rbac.records import USERS


class Directory:
    """User records, and the actors that they are."""

    def __init__(self, database: Database, policy: Policy) -> None:
        self._database = database
        self._policy = policy
        self._users: RecordCache[int, dict[str, Any]] = RecordCache(self._load)
        database.changes.listen(USERS.name, self._users.invalidate)

    async def _load(self, id: int) -> dict[str, Any] | None:
        return await self._database.store(USERS).find_one({"_id": id})

    async def user(self, id: int) -> dict[str, Any] | None:
        """The user record, or None; not to be changed."""
        return await self._users.get(id)

    async def name(self, id: int) -> str:
        """What a person is called, or was before the account was deleted; empty where there never was one."""
        user = await self.user(id) or await self._database.driver.find_by_id(
            USERS.name, id, fields=("real_name", "username")
        )
        return str(user.get("real_name") or user["username"]) if user else ""

    async def by_username(self, username: str) -> dict[str, Any] | None:
        """The user record with this name, read from the database."""
        return await self._database.store(USERS).find_one({"username": username})

    async def actor(self, user: dict[str, Any], session_id: str) -> Actor:
        """The person of a user record, with the roles that are enabled now."""
        rules = await self._policy.rules()
        known = rules.actors.get(session_id)
        if known is not None and known[0] is user:
            return known[1]
        actor = Actor(
            user_id=user["id"],
            username=user["username"],
            name=user.get("real_name") or user["username"],
            department_id=user.get("department_id"),
            roles=rules.enabled(user.get("role_ids") or ()),
            is_super=bool(user.get("is_super")) or user["id"] == 1,
            must_change_password=bool(user.get("must_change_password")),
            session_id=session_id,
        )
        rules.actors[session_id] = (user, actor)
        return actor


async def of_people_seen(req: Request) -> dict[str, Any]:
    """The filter of rows about people, by `user_id`, that leaves those in the caller's data scope."""
    if req.scope.everything:
        return {}
    people = await req.store(USERS).aggregate([{"$project": {"_id": 1}}])
    return {"user_id": {"$in": [user["_id"] for user in people]}}
