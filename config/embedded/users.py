"""The users of the embedded database: each has only the privileges that it needs, and none of them is root.

The service reads and writes its own database and manages its indexes. Transactions, change streams and ending one's own
sessions need no further privilege. Tests and measurements create databases and read the state of `mongod`, so they have
another user.
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
    """Return the URI of the database for this user. It holds the password: never log it."""
    return f"mongodb://{user}:{folder.password(user)}@{address(port)}&authSource=admin"


def let_in(folder: Folder, port: int, database: str | None) -> str:
    """Create or correct the user of `database`, or without one the user of tests and measurements; return its URI.

    A user that an earlier version created as root keeps only what the service needs. Raises EmbeddedError.
    """
    user = SERVICE if database else TOOLS
    wanted = [{"role": role, "db": database or "admin"} for role in (SERVICE_ROLES if database else TOOL_ROLES)]
    password = folder.password(user)
    with as_member(folder, port) as client:
        found = _find(client, user)
        if found is None and not _create(client, user, password, wanted):
            found = _find(client, user)
        if found is not None:
            _amend(client, user, password, found, wanted)
    return uri_of(folder, port, user)


def _find(client: Client, user: str) -> Mapping[str, Any] | None:
    users: Sequence[Mapping[str, Any]] = client.admin.command("usersInfo", user)["users"]
    return users[0] if users else None


def _create(client: Client, user: str, password: str, roles: list[dict[str, str]]) -> bool:
    """Create the user; return False if another process has just done so."""
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
    """Correct the roles of the user, and its password if the key has changed."""
    # keep the roles on the databases of other services in this folder
    kept = [role for role in found["roles"] if role["role"] in SERVICE_ROLES and role not in wanted]
    changes: dict[str, Any] = {}
    if _sort(found["roles"]) != _sort([*kept, *wanted]):
        changes["roles"] = [*kept, *wanted]
    if found.get("customData") != _mark(password):
        changes |= {"pwd": password, "customData": _mark(password)}
    if changes:
        client.admin.command("updateUser", user, **changes)


def _mark(password: str) -> dict[str, str]:
    """Return a mark that identifies the key of the user's password, so that it can be checked without a log-in."""
    return {"key": hashlib.sha256(password.encode()).hexdigest()[:16]}


def _sort(roles: Sequence[Role]) -> list[tuple[str, str]]:
    return sorted((role["db"], role["role"]) for role in roles)
