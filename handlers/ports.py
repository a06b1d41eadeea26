"""Ports: the protocols that plugins implement for the core, such as who the caller is, and what they may do and see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypedDict

from handlers.access.actor import Actor
from handlers.data.visible.delegated_access import Passes as Passes
from handlers.data.visible.scope import Scope
from handlers.request import Request
from handlers.route import Route
from handlers.schema.values import Body, ReadOnlyRecord
from handlers.service import Port


class Authenticator(Protocol):
    """Authenticates callers. The plugin that owns sessions provides it."""

    async def authenticate(self, token: str, address: str) -> Actor:
        """Return the person to whom a bearer token belongs that comes from `address`. Raises 40100 or 40101."""


class Authorizer(Protocol):
    """Authorizes callers. The plugin that owns roles provides it."""

    async def allows(self, actor: Actor, route: Route) -> bool:
        """Return whether an enabled role of the actor grants a menu or button with the permission of this route."""

    async def scope_of(self, actor: Actor) -> Scope:
        """Return the data scope of the actor: the union of the scopes of their enabled roles, narrowed by `Keeping`."""


class Departments(Port):
    """Knows the tree of departments. The plugin that owns them provides it; without it, none is below another."""

    async def below(self, id: int) -> frozenset[int]:
        """Return the ids of the department and of all departments below it."""
        return frozenset({id})


class OwnRequests(Port):
    """Decides about own requests. A plugin may provide it; without one, people never decide on their own requests."""

    async def allowed(self) -> bool:
        """Return whether people may approve or reject their own requests."""
        return False


class Approvals(Port):
    """Knows which records wait in a flow. A plugin may provide it; without one, none does."""

    async def pending(self, biz_type: str, resource_id: str) -> str | None:
        """Return the id of the approval that the record waits for."""
        return None


class AttachedFile(TypedDict):
    """A file of a record: the id of its attachment, its name, and the key by which it is read."""

    id: str
    file_name: str
    object_key: str


class Attachments(Port):
    """Knows the files of records. A plugin may provide it; without one, nobody can be asked for a file."""

    async def exist(self, biz_type: str, resource_id: str) -> bool:
        """Return whether a file is attached to the record."""
        return True

    async def keep(self, biz_type: str, resource_id: str, ids: Sequence[str]) -> list[AttachedFile]:
        """Return those of the attachments that are the record's. From then on nobody can remove them."""
        return []

    async def uploaded(self, key: str, user_id: int) -> bool:
        """Return whether this person has uploaded a file, which is stored under this key."""
        return True

    async def read(self, req: Request, key: str, most: int) -> bytes | None:
        """Return the content of a file, or None if nobody keeps files.

        Raises 40400 if the caller may not read it, and 41300 for more than `most` bytes.
        """
        return None

    async def attach(self, req: Request, key: str, biz_type: str, resource_id: str) -> None:
        """Attach a file to a record that the caller has just made. Raises 40400 if they may not read it."""


class Absences(Port):
    """Knows who is away. A plugin may provide it; without one, everybody is there."""

    async def away(self, user_ids: Sequence[int], at: datetime) -> frozenset[int]:
        """Return those of the people who are away at a moment, such as on approved leave."""
        return frozenset()


class WorkingTime(Port):
    """Knows when people work. A plugin may provide it; without one, every hour counts."""

    async def after(self, start: datetime, duration: timedelta) -> datetime:
        """Return the moment at which this much working time has passed since `start`."""
        return start + duration


class DirectLinks(Port):
    """Knows where a message leads that is sent to one person outside. A plugin may provide it for what it sends."""

    async def link(self, user_id: int, kind: str, data: ReadOnlyRecord, at: datetime) -> str | None:
        """Return the path that is signed for this person, in a message of `at` with this kind and these data, or None."""
        return None


class OptionValues:  # no protocol: plugins ask for it by `part`, and a type checker wants a class that can exist
    """The settings that administrators change. The plugin that keeps them provides it; without it, defaults apply."""

    async def value(self, key: str) -> Body:
        """Return the current value of the `Option` with this key."""
        raise NotImplementedError


class Accounts(Port):
    """Finds people, for work in their name without a request from them. The plugin of users provides it."""

    async def actor_of(self, user_id: int) -> Actor | None:
        """Return the person with their current roles, or None if they are disabled or deleted."""
        return None
