"""Ports: the protocols that plugins implement for the core. Who the caller is, and what they may do and see."""

from __future__ import annotations

from typing import Protocol

from handlers.actor import Actor
from handlers.data.passes import Passes as Passes
from handlers.data.scope import Scope
from handlers.route import Route
from handlers.schema.values import Body


class Authenticator(Protocol):
    """Authenticates callers. The plugin that owns sessions provides it."""

    async def authenticate(self, token: str) -> Actor:
        """Return the person of an access token. Raises 40100 or 40101."""


class Authorizer(Protocol):
    """Authorizes callers. The plugin that owns roles provides it."""

    async def allows(self, actor: Actor, route: Route) -> bool:
        """Whether an enabled role of the actor grants a menu or button with the permission of this route."""

    async def scope_of(self, actor: Actor) -> Scope:
        """The data scope of the actor: the union of those of their enabled roles, as `Keeping` narrows it."""


class Departments(Protocol):
    """Knows the tree of departments. The plugin that owns them provides it; without one, none is below another."""

    async def below(self, id: int) -> frozenset[int]:
        """The department and all below it."""


class OwnRequests(Protocol):
    """Decides about own requests. A plugin may provide it; without one, people never decide on their own requests."""

    async def allowed(self) -> bool:
        """Whether people may approve or reject their own requests."""


class OptionValues(Protocol):
    """The settings that administrators change. The plugin that keeps them provides it; without one, defaults apply."""

    async def value(self, key: str) -> Body:
        """The value in force of the `Option` with this key."""


class Accounts(Protocol):
    """Finds people, for work in their name without a request of theirs. The plugin of users provides it."""

    async def actor_of(self, user_id: int) -> Actor | None:
        """The person with their present roles; None for one who is disabled or deleted."""
