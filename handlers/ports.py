"""The ports through which plugins serve the core: who somebody is, what they may do, which rows they see."""

from __future__ import annotations

from typing import Protocol

from handlers.actor import Actor
from handlers.data.scope import Scope
from handlers.route import Route


class Authenticator(Protocol):
    """Provided by the plugin that owns sessions."""

    async def authenticate(self, token: str) -> Actor:
        """The person of an access token; raises 40100 or 40101."""


class Authorizer(Protocol):
    """Provided by the plugin that owns roles."""

    async def allows(self, actor: Actor, route: Route) -> bool:
        """Whether some enabled role of the actor grants a menu that declares this route (SPEC 5.5, layer 1)."""

    async def scope_of(self, actor: Actor) -> Scope:
        """The union of the rows of the actor's enabled roles (SPEC 5.5, layer 3)."""


class OwnRequests(Protocol):
    """May be provided by the plugin whose setting says so; without it people never decide on their own requests."""

    async def allowed(self) -> bool:
        """Whether people may decide on what they asked for themselves."""
