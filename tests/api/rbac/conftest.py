"""Fixtures of the tests of users, roles, menus and departments."""

from __future__ import annotations

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import People
from tests.api.rbac.branch import Branch, open_branch


@pytest.fixture(scope="module")
def branch(io_loop: IOLoop, people: People) -> Branch:
    """A branch of its own for each file."""
    opened: Branch = io_loop.run_sync(lambda: open_branch(people))
    return opened
