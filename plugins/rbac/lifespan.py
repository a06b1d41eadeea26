"""The first start: accounts and menus; and what the plugin does at start and at shutdown."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Service
from plugins.api.errors import StartError
from plugins.api.ports import Accounts, Authorizer, Departments
from plugins.api.records import Catalogue
from plugins.api.requests import is_placeholder
from plugins.rbac.declared_menus import synchronise
from plugins.rbac.directory import Directory
from plugins.rbac.passwords import Passwords, RbacSettings, against_policy
from plugins.rbac.policy import Policy
from plugins.rbac.records import USERS
from plugins.rbac.rehearsal import RunningRehearsals
from plugins.rbac.users import FIRST_USER, credentials

log = logging.getLogger("tradewind.rbac")


async def prepare(service: Service) -> None:
    """Write the declared menus into the database, and create user 1 if it is missing.

    Raises `StartError` if its password in the settings is against the policy, or that of an example.
    """
    await service.database.transaction(lambda: synchronise(service.database, service.part(Catalogue)))
    users = service.database.store(USERS)
    if await users.find_one({"_id": FIRST_USER}):
        return
    settings = service.settings_of(RbacSettings)
    given = settings.admin_password.get_secret_value()
    if given and (is_placeholder(given) or against_policy(service, given)):
        raise StartError(
            "TRADEWIND_ADMIN_PASSWORD is too easy to guess: it takes at least "
            f"{settings.password_min_length} characters of {settings.password_min_kinds} kinds (upper case, lower case, "
            "digits, symbols), and not those of an example; without it a password is made up and printed."
        )
    passwords = service.part(Passwords)
    demo = service.demo_password("admin") if service.settings.demo and not given else ""
    password = given or demo or passwords.make()
    number = await service.database.next_number(USERS.name)
    if number != FIRST_USER:
        raise RuntimeError(f"user {FIRST_USER} is missing although {number - 1} users were made")
    await users.create(
        {
            "username": "admin",
            "real_name": "系统管理员",
            "is_super": True,
            "must_change_password": not (given or demo),
            **credentials(passwords, await passwords.hash(password)),
        },
        id=FIRST_USER,
    )
    if not (given or demo):
        service.say(f"First start: log in as admin with the password {password} and change it.")


_REHEARSALS_OF_PERSON = 2


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the policy, the directory, the hashing threads and the count of rehearsals."""
    policy = Policy(service.database)
    passwords = Passwords(service.settings_of(RbacSettings))
    service.provide(Authorizer, policy)
    service.provide(Departments, policy)
    service.provide(Policy, policy)
    directory = Directory(service.database, policy)
    service.provide(Directory, directory)
    service.provide(Accounts, directory)
    service.provide(Passwords, passwords)
    service.provide(RunningRehearsals, RunningRehearsals(_REHEARSALS_OF_PERSON))
    yield
    passwords.close()
