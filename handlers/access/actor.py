"""Actors: the person behind a request, or the service itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Actor:
    """The person behind a request, with the session and the user record as they are at the time of the request.

    `roles` are the ids of the person's enabled roles. `session_id` is the `sid` claim of the token.
    """

    user_id: int
    username: str = ""
    name: str = ""
    department_id: int | None = None
    roles: frozenset[int] = frozenset()
    is_super: bool = False
    must_change_password: bool = False
    session_id: str = ""


ANONYMOUS = Actor(user_id=0)
# the service itself, which acts in jobs, at the start and for demo data
SYSTEM = Actor(user_id=0, username="system", is_super=True)
