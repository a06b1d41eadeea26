"""A cache of user records by id, invalidated by a change on any instance; and which entries of logs a user sees."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from plugins.api import Actor, Request, Service, choice
from plugins.api.data import Database, RecordCache
from plugins.api.ports import Accounts
from plugins.rbac.policy import Policy
from plugins.rbac.records import USERS

DEMO_USERS = ("manager", "sales", "staff")


class Directory(Accounts):
    """User records, and the actors made from them."""

    def __init__(self, database: Database, policy: Policy) -> None:
        self._database = database
        self._policy = policy
        self._users: RecordCache[int, dict[str, Any]] = RecordCache(self._load)
        database.changes.listen(USERS.name, self._users.invalidate)

    async def _load(self, id: int) -> dict[str, Any] | None:
        return await self._database.store(USERS).find_one({"_id": id})

    def cached_user(self, id: int) -> dict[str, Any] | None:
        """Return the user record if it is in memory. Callers must not change it."""
        return self._users.cached(id)

    def user(self, id: int) -> Awaitable[dict[str, Any] | None]:
        """Return the user record, or None. Callers must not change it."""
        return self._users.get(id)

    async def by_username(self, username: str) -> dict[str, Any] | None:
        """Return the user record of the person with this name, read from the database; service accounts never log in."""
        return await self._database.store(USERS).find_one({"username": username, "service": {"$ne": True}})

    async def actor_of(self, user_id: int) -> Actor | None:
        """Return the actor of a user with their current roles, or None if the user is disabled or deleted."""
        user = await self.user(user_id)
        return await self.actor(user, "") if user is not None and user["status"] == "enabled" else None

    async def actor(self, user: dict[str, Any], session_id: str) -> Actor:
        """Return the actor of a user record, with the roles that are enabled now."""
        rules = self._policy.snapshot.latest or await self._policy.rules()
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


async def people_of_the_demo(service: Service) -> dict[str, Actor]:
    """Return the built-in super administrator and the demo users by user name, or nobody if one of them is missing."""
    directory = service.part(Directory)
    found = [await directory.by_username(name) for name in DEMO_USERS]
    people = {user["username"]: await directory.actor(user, "") for user in found if user is not None}
    boss = await directory.user(1)
    return {**people, "admin": await directory.actor(boss, "")} if boss and len(people) == len(DEMO_USERS) else {}


async def visible_users_filter(req: Request) -> dict[str, Any]:
    """Return the filter, by `user_id`, for rows about users in the caller's data scope."""
    if req.scope.everything:
        return {}
    people = await req.store(USERS).aggregate([{"$project": {"_id": 1}}])
    return {"user_id": {"$in": [user["_id"] for user in people]}}


OUTCOME = choice(
    "success",
    "failure",
    label=("结果", "Outcome"),
    nullable=False,
    example="failure",
    description="`success`: only entries whose `code` is 0; `failure`: only the others.",
)
_CODES: dict[str, dict[str, Any]] = {"success": {"code": 0}, "failure": {"code": {"$gt": 0}}}


async def log_filter(req: Request) -> dict[str, Any]:
    """Return the filter for log entries: by users in the caller's data scope, with the `outcome` of the query."""
    return await visible_users_filter(req) | _CODES.get(req.query.get("outcome", ""), {})
