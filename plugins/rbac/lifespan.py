"""What the plugin does at start and at shutdown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plugins.api import Accounts, Authorizer, Departments, Service
from plugins.rbac.directory import Directory
from plugins.rbac.passwords import Passwords
from plugins.rbac.policy import Policy
from plugins.rbac.settings import RbacSettings


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the policy, the directory and the hashing threads."""
    policy = Policy(service.database)
    passwords = Passwords(service.settings_of(RbacSettings))
    service.provide(Authorizer, policy)
    service.provide(Departments, policy)
    service.provide(Policy, policy)
    directory = Directory(service.database, policy)
    service.provide(Directory, directory)
    service.provide(Accounts, directory)
    service.provide(Passwords, passwords)
    yield
    passwords.close()
