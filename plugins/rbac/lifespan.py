"""What the plugin does at start and at shutdown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Service
from plugins.api.ports import Accounts, Authorizer, Departments
from plugins.rbac.directory import Directory
from plugins.rbac.passwords import Passwords
from plugins.rbac.policy import Policy
from plugins.rbac.rehearsal import RunningRehearsals
from plugins.rbac.settings import RbacSettings

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
