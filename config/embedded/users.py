"""The users of the embedded database: each may do what its work needs, and no more. None of them is root.

The service reads and writes its own database and looks after its indexes. It takes no further privilege to run
transactions, to watch changes, or to end the sessions of one's own user. Tests and measurements make databases as they
need them and look at how `mongod` is, so theirs is another user.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from pymongo.errors import OperationFailure

from config.embedded.folder import Folder
from config.embedded.replica_set import Client, address, as_member

SERVICE, TOOLS = "tradewind", "tradewind-tools"
SERVICE_ROLES = ("readWrite", "dbAdmin")
TOOL_ROLES = ("readWriteAnyDatabase", "dbAdminAnyDatabase", "clusterMonitor")
USER_EXISTS = 51003  # src/mongo/base/error_codes.yml

Role = Mapping[str, str]


def uri_of(folder: Folder, port: int, user: str) -> str:
    """Where the database is for this user, password included: never log it."""
    return f"mongodb://{user}:{folder.password(user)}@{address(port)}&authSource=admin"


def let_in(folder: Folder, port: int, database: str | None) -> str:
    """Make sure of the user of `database`, or without one of that for tests and measurements; its uri.

    A user of an earlier version, who was root, is left with what the service needs. Raises EmbeddedError.
    """
    user = SERVICE if database else TOOLS
    wanted = [{"role": role, "db": database or "admin"} for role in (SERVICE_ROLES if database else TOOL_ROLES)]
    password = folder.password(user)
    with as_member(folder, port) as client:
        found = _found(client, user)
        if found is None and not _made(client, user, password, wanted):
            found = _found(client, user)
        if found is not None:
            _amend(client, user, password, found, wanted)
    return uri_of(folder, port, user)


def _found(client: Client, user: str) -> Mapping[str, Any] | None:
    users: Sequence[Mapping[str, Any]] = client.admin.command("usersInfo", user)["users"]
    return users[0] if users else None


def _made(client: Client, user: str, password: str, roles: list[dict[str, str]]) -> bool:
    """Make the user; False where another process just did."""
    try:
        client.admin.command("createUser", user, pwd=password, roles=roles, customData=_mark(password))
    except OperationFailure as error:
        if error.code != USER_EXISTS:
            raise
        return False
    return True


def _amend(
    client: Client, user: str, password: str, found: Mapping[str, Any], wanted: Sequence[dict[str, str]]
) -> None:
    """Give the user the rights, and the password of today's key where the old key was lost."""
    # other services in this folder have databases of their own
    kept = [role for role in found["roles"] if role["role"] in SERVICE_ROLES and role not in wanted]
    changes: dict[str, Any] = {}
    if _sorted(found["roles"]) != _sorted([*kept, *wanted]):
        changes["roles"] = [*kept, *wanted]
    if found.get("customData") != _mark(password):
        changes |= {"pwd": password, "customData": _mark(password)}
    if changes:
        client.admin.command("updateUser", user, **changes)


def _mark(password: str) -> dict[str, str]:
    """What tells of which key a user has the password, without signing in."""
    return {"key": hashlib.sha256(password.encode()).hexdigest()[:16]}


def _sorted(roles: Sequence[Role]) -> list[tuple[str, str]]:
    return sorted((role["db"], role["role"]) for role in roles)
