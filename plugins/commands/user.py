"""The command `tradewind user`: changes accounts in the database; no server has to run.

The operation log records the changes as those of `system`. Running servers notice them within two seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import json
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
from handlers.access.actor import SYSTEM
from handlers.data.database import Database, utc_now
from handlers.operations.operation_log import OPERATION_LOGS
from handlers.schema.errors import ApiError, ValidationFailed
from handlers.schema.messages import RULES
from handlers.schema.validation import Checker
from plugins.auth.records import SESSIONS
from plugins.boot.listen import StartError
from plugins.commands.command_parser import command_parser
from plugins.commands.doctor import database_uri
from plugins.rbac.passwords import Passwords, RbacSettings
from plugins.rbac.records import DEPARTMENTS, ROLES, USERS
from plugins.rbac.users import FIRST_USER, UNLOCKED, credentials

Record = dict[str, Any]
_EPILOG = """\
examples:
  {program} unlock admin
  {program} reset admin                        # prints a new password
  {program} create chen --role sales --department east --real-name "Chen Wei"
  {program} super chen                         # and --off takes it away
  {program} create backup-admin --super --json

exit codes: 0 done; 1 not done, as a sentence says (no such name, role or department; a name that is taken; the last super
administrator); 2 arguments, settings or the database
"""


class Refused(Exception):
    """The command cannot be carried out; the message says why."""


@dataclass(frozen=True)
class Told:
    """The result of a command: a sentence for the person at the terminal, and values for programs."""

    sentence: str
    values: Record


@dataclass(frozen=True)
class Accounts:
    """One run: the database, and the arguments of the command."""

    database: Database
    given: argparse.Namespace

    async def unlock(self) -> Told:
        """Reset the failed log-ins of the account."""
        user = await self._named()
        await self._write(user["id"], UNLOCKED)
        return self._told(user, f"{user['username']} is unlocked.")

    async def reset(self) -> Told:
        """Set a new random password, which must be changed, and end the account's sessions."""
        user = await self._named()
        used = [*(user.get("password_history") or ()), user["password_hash"]]
        password, values = await _new_password(used)

        async def end_sessions() -> None:
            ended = {"$set": {"ended_at": utc_now(), "end_reason": "password"}}
            going_on = {"user_id": user["id"], "ended_at": None}
            await self.database.store(SESSIONS).update_many(going_on, ended)

        await self._write(user["id"], {**values, **UNLOCKED}, end_sessions)
        sentence = f"The new password of {user['username']} is {password} and must be changed at the next log-in."
        return self._told(user, sentence, password=password)

    async def create(self) -> Told:
        """Create an account with a random password, which must be changed."""
        given = self.given
        for name in ("username", "real_name"):
            _check(name, getattr(given, name))
        values: Record = {"username": given.username, "is_super": given.super}
        values |= {"real_name": given.real_name} if given.real_name else {}
        values["role_ids"] = [(await self._coded(ROLES.name, "role", code))["id"] for code in given.role]
        if given.department:
            values["department_id"] = (await self._coded(DEPARTMENTS.name, "department", given.department))["id"]
        password, hashed = await _new_password()

        async def work() -> Record:
            user = await self.database.store(USERS).create({**values, **hashed})
            await self._note(user["id"])
            return user

        user = await self.database.transaction(work)
        sentence = f"The password of {user['username']} is {password} and must be changed at the first log-in."
        return self._told(user, sentence, password=password)

    async def make_super(self) -> Told:
        """Make an account a super administrator or, with `--off`, an ordinary one."""
        user = await self._named()
        wanted = not self.given.off
        if not wanted:
            if user["id"] == FIRST_USER:
                raise Refused("the built-in super administrator stays one")
            others = {"is_super": True, "status": "enabled", "_id": {"$ne": user["id"]}}
            if not await self.database.store(USERS).count(others):
                raise Refused("at least one enabled super administrator must stay")
        await self._write(user["id"], {"is_super": wanted})
        what = "a super administrator" if wanted else "no super administrator any more"
        return self._told(user, f"{user['username']} is {what}.", is_super=wanted)

    async def _named(self) -> Record:
        user = await self.database.store(USERS).find_one({"username": self.given.username})
        if user is None:
            raise Refused(f"nobody is called {self.given.username}")
        return user

    async def _coded(self, collection: str, noun: str, code: str) -> Record:
        store = self.database.store(ROLES if collection == ROLES.name else DEPARTMENTS)
        found = await store.find_one({"code": code})
        if found is None:
            raise Refused(f"no {noun} has the code {code}")
        return found

    async def _write(self, user_id: int, values: Record, more: Callable[[], Awaitable[None]] | None = None) -> None:
        async def work() -> None:
            await self.database.store(USERS).update(user_id, values)
            if more is not None:
                await more()
            await self._note(user_id)

        await self.database.transaction(work)

    def _told(self, user: Record, sentence: str, **values: object) -> Told:
        return Told(sentence, {"id": user["id"], "username": user["username"], **values})

    async def _note(self, user_id: int) -> None:
        """Record the command in the operation log."""
        what = f"scripts/user {self.given.noted}"
        await note_command(self.database, what, self.given.username, {}, str(user_id))


async def note_command(database: Database, what: str, subject: str, body: Record, resource_id: str = "") -> None:
    """Record a command about `subject` in the operation log like a request, as one of the service itself."""
    entry = {
        "at": utc_now(),
        "user_id": SYSTEM.user_id,
        "username": SYSTEM.username,
        "summary": what,
        "method": "COMMAND",
        "path": f"{what} {subject}",
        "status": 200,
        "code": 0,
        "milliseconds": 0.0,
        "address": "127.0.0.1",
        "request_id": uuid.uuid4().hex,
        "resource_id": resource_id or None,
        "body": {"machine": socket.gethostname(), "account": getpass.getuser(), **body},
    }
    await database.store(OPERATION_LOGS).create(entry)


async def _new_password(used: Sequence[str] = ()) -> tuple[str, Record]:
    """Return a random password and its stored form; `used` holds the hashes of earlier passwords."""
    from_environment: Any = RbacSettings
    passwords = Passwords(from_environment())
    try:
        password = passwords.make()
        stored = credentials(passwords, await passwords.hash(password), used)
    finally:
        passwords.close()
    return password, {**stored, "must_change_password": True}


def _check(name: str, value: str | None) -> None:
    if value is None:
        return
    try:
        Checker(USERS.fields[name])(value)
    except ValidationFailed as error:
        raise Refused(f"{name} {value!r}: {RULES[error.errors[0].rule].en}") from error


def main(arguments: Sequence[str], program: str = "tradewind user") -> int:
    """Run the command and print its result; return 0 if done, 1 if refused, 2 for bad settings or no database."""
    given = _parser(program).parse_args(arguments)
    shown: Record = {"demo": True} if given.demo else {}
    try:
        settings = Settings(**shown)
        with database_uri(settings) as uri:
            if uri is None:
                raise EmbeddedError(f"there is no database in {settings.data_dir}")
            told = asyncio.run(_run(settings, uri, given))
    except (ValidationError, EmbeddedError, StartError, ValueError, DatabaseUnavailable) as error:
        print(f"user: {error}", file=sys.stderr)
        return 2
    except (Refused, ApiError) as error:
        print(f"user: {_why(error)}", file=sys.stderr)
        return 1
    print(json.dumps(told.values, ensure_ascii=False) if given.json else told.sentence)
    return 0


def _why(error: Refused | ApiError) -> str:
    if isinstance(error, Refused):
        return str(error)
    named = error.data.get("field") if isinstance(error.data, dict) else None
    return f"{named}: {error.reason.en}" if named else error.reason.en


def _parser(program: str) -> argparse.ArgumentParser:
    parser = command_parser(
        program,
        "Accounts of the server's database, for who may log in to this machine: the way in when nobody can.",
        _EPILOG,
    )
    parser.add_argument("--demo", action="store_true", help="with TRADEWIND_DEMO=true, as scripts/server starts it")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    every = argparse.ArgumentParser(add_help=False)
    every.add_argument("username", help="whose account; user 1 is called admin at first")
    every.add_argument("--json", action="store_true", help="print what was done as JSON")
    unlock = commands.add_parser("unlock", parents=[every], help="forget failed log-ins")
    unlock.set_defaults(run=Accounts.unlock, noted="unlock")
    reset = commands.add_parser("reset", aliases=["reset-password"], parents=[every], help="set a random password")
    reset.set_defaults(run=Accounts.reset, noted="reset-password")
    create = commands.add_parser("create", parents=[every], help="make an account with a random password")
    create.add_argument("--real-name", metavar="NAME", help="what people call them")
    create.add_argument("--role", metavar="CODE", action="append", default=[], help="a role by its code; repeatable")
    create.add_argument("--department", metavar="CODE", help="the department by its code")
    create.add_argument("--super", action="store_true", help="as a super administrator")
    create.set_defaults(run=Accounts.create, noted="create")
    super_ = commands.add_parser("super", parents=[every], help="make a super administrator")
    super_.add_argument("--off", action="store_true", help="take it away")
    super_.set_defaults(run=Accounts.make_super, noted="super")
    return parser


async def _run(settings: Settings, uri: str, given: argparse.Namespace) -> Told:
    driver = open_driver(settings.mongodb_driver, uri, settings.mongodb_database, settings.mongodb_timeout_ms)
    try:
        database = Database(driver, (USERS, ROLES, DEPARTMENTS, SESSIONS, OPERATION_LOGS))
        told: Told = await given.run(Accounts(database, given))
        return told
    finally:
        await driver.close()
