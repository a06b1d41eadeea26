"""What `scripts/user` does to the accounts of the server's database, whether a server runs or not.

What it does is in the operation log, done by `system`. Running servers follow within two seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import socket
import sys
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from config.database import DatabaseUnavailable, open_driver
from config.embedded import EmbeddedError
from config.settings import Settings
from handlers.actor import SYSTEM
from handlers.data.database import Database, utc_now
from handlers.operation_log import OPERATION_LOGS
from plugins.auth.records import SESSIONS
from plugins.rbac.passwords import Passwords
from plugins.rbac.records import USERS
from plugins.rbac.settings import RbacSettings
from plugins.rbac.users import credentials
from scripts.diagnosis.report import database_uri

Record = dict[str, Any]
_UNLOCKED: Record = {"failures": 0, "locked_until": None}


@dataclass(frozen=True)
class Command:
    """One run: the database, the account that it is about, and what it is called."""

    database: Database
    user: Record
    name: str

    async def unlock(self) -> str:
        """Forget the failed log-ins; what to tell the person at the terminal."""

        async def work() -> None:
            await self.database.store(USERS).update(self.user["id"], _UNLOCKED)
            await self._note()

        await self.database.transaction(work)
        return f"{self.user['username']} is unlocked."

    async def reset_password(self) -> str:
        """Set a new random password, which must be changed, and end the account's sessions."""
        from_environment: Any = RbacSettings
        passwords = Passwords(from_environment())
        try:
            password = passwords.make()
            used = [*(self.user.get("password_history") or ()), self.user["password_hash"]]
            values = {**credentials(passwords, await passwords.hash(password), used), "must_change_password": True}
        finally:
            passwords.close()

        async def work() -> None:
            await self.database.store(USERS).update(self.user["id"], {**values, **_UNLOCKED})
            ended = {"$set": {"ended_at": utc_now(), "end_reason": "password"}}
            going_on = {"user_id": self.user["id"], "ended_at": None}
            await self.database.store(SESSIONS).update_many(going_on, ended)
            await self._note()

        await self.database.transaction(work)
        return f"The new password of {self.user['username']} is {password} and must be changed at the next log-in."

    async def _note(self) -> None:
        """The operation log tells it like a request, with who was at the machine as its body."""
        await self.database.store(OPERATION_LOGS).create(
            {
                "at": utc_now(),
                "user_id": SYSTEM.user_id,
                "username": SYSTEM.username,
                "summary": f"scripts/user {self.name}",
                "method": "COMMAND",
                "path": f"scripts/user {self.name} {self.user['username']}",
                "status": 200,
                "code": 0,
                "milliseconds": 0.0,
                "address": "127.0.0.1",
                "request_id": uuid.uuid4().hex,
                "resource_id": str(self.user["id"]),
                "body": {"machine": socket.gethostname(), "account": getpass.getuser()},
            }
        )


COMMANDS: dict[str, Callable[[Command], Awaitable[str]]] = {
    "unlock": Command.unlock,
    "reset-password": Command.reset_password,
}


def main(arguments: Sequence[str], program: str = "scripts/user") -> int:
    """Do it and say so; 0 when it is done, 1 for a name that nobody has, 2 when the database cannot be reached."""
    parser = argparse.ArgumentParser(
        prog=program,
        description="Lets somebody in again, in the server's database. For who may log in to this machine.",
    )
    parser.add_argument("--demo", action="store_true", help="with TRADEWIND_DEMO=true, as scripts/server starts it")
    parser.add_argument("command", choices=sorted(COMMANDS), help="what to do")
    parser.add_argument("username", help="whose account; user 1 is called admin at first")
    chosen = parser.parse_args(arguments)
    given: Record = {"demo": True} if chosen.demo else {}
    try:
        settings = Settings(**given)
        with database_uri(settings) as uri:
            if uri is None:
                raise EmbeddedError(f"there is no database in {settings.data_dir}")
            told = asyncio.run(_run(settings, uri, chosen.command, chosen.username))
    except (ValidationError, EmbeddedError, ValueError, DatabaseUnavailable) as error:
        print(f"user: {error}", file=sys.stderr)
        return 2
    if told is None:
        print(f"user: nobody is called {chosen.username}", file=sys.stderr)
        return 1
    print(told)
    return 0


async def _run(settings: Settings, uri: str, name: str, username: str) -> str | None:
    driver = open_driver(settings.mongodb_driver, uri, settings.mongodb_database, settings.mongodb_timeout_ms)
    try:
        database = Database(driver, (USERS, SESSIONS, OPERATION_LOGS))
        user = await database.store(USERS).find_one({"username": username})
        return await COMMANDS[name](Command(database, user, name)) if user else None
    finally:
        await driver.close()
