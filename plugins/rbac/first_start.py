"""Prepares the database at start: writes the declared menus, and creates user 1, the super administrator."""

from __future__ import annotations

import logging

from plugins.api import Catalogue, Service
from plugins.rbac.declared_menus import synchronise
from plugins.rbac.passwords import Passwords
from plugins.rbac.records import USERS
from plugins.rbac.settings import RbacSettings
from plugins.rbac.users import FIRST_USER, credentials

log = logging.getLogger("tradewind.rbac")


async def prepare(service: Service) -> None:
    """Write the declared menus into the database, and create user 1 if it is missing."""
    await service.database.transaction(lambda: synchronise(service.database, service.part(Catalogue)))
    users = service.database.store(USERS)
    if await users.find_one({"_id": FIRST_USER}):
        return
    given = service.settings_of(RbacSettings).admin_password.get_secret_value()
    passwords = service.part(Passwords)
    demo = service.demo_password("admin") if service.settings.demo and not given else ""
    password = given or demo or passwords.make()
    number = await service.database.next_number(USERS.name)
    if number != FIRST_USER:
        raise RuntimeError(f"user {FIRST_USER} is missing although {number - 1} users were made")
    await users.create(
        {
            "username": "admin",
            "real_name": "Administrator",
            "is_super": True,
            "must_change_password": not (given or demo),
            **credentials(passwords, await passwords.hash(password)),
        },
        id=FIRST_USER,
    )
    if not (given or demo):
        service.say(f"First start: log in as admin with the password {password} and change it.")
