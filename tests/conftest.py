"""What every test has: the fixtures that integrators get too, and those of the tests over the whole registry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

pytest_plugins = ["plugins.testing", "tests.support.fixtures"]

PATIENCE = 5  # time limits are there to end a test that hangs, not to measure a busy machine


# begun last, they would keep one of the two runners waiting for the other
LONGEST = ("test_northwind.py", "test_books_after_kill.py", "test_docs_page.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every coroutine test its own limit several times over; what takes longest begins first."""
    sizes = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path.name not in LONGEST, -sizes[item.path]))
    for item in items:
        marked = item.get_closest_marker("gen_test")
        if marked is not None and "timeout" in marked.kwargs:
            # a mark is shared by all cases of a test, so each gets one of its own
            item.add_marker(pytest.mark.gen_test(timeout=marked.kwargs["timeout"] * PATIENCE), append=False)


@pytest.fixture(scope="session", autouse=True)
def explained_denials() -> Iterator[None]:
    """What any client of any server is denied must be explained."""
    # here, as pytest wants to load its plugins before anybody else does
    from plugins.testing import Client
    from tests.support.denials import Explained

    witness = Explained()
    Client.response_hooks.append(witness)
    yield
    Client.response_hooks.remove(witness)
