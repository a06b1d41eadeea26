"""What every test has: the fixtures that integrators get too, and those of the tests over the whole registry."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from config import garbage_collection

pytest_plugins = [
    "plugins.testing",
    "tests.support.fixtures",
    "tests.support.probe_fixtures",
    "tests.support.driver_fixtures",
    "tests.support.data_fixtures",
    "tests.support.wecom_fixtures",
]

PATIENCE = 5  # time limits are there to end a test that hangs, not to measure a busy machine


# many seconds for few tests: begun last, they would keep one of the runners waiting for the others
LONGEST = (
    "test_every_menu.py",
    "test_working.py",
    "test_northwind.py",
    "test_every_cursor.py",  # walks through all rows, of which every other file leaves some
    "test_docs_page.py",
    "test_draining.py",
    "test_barrier.py",
    "test_supervise.py",
    "test_large_files.py",
    "test_accessible.py",
    "test_sweeping_by_two.py",
    "test_start_ends.py",
    "test_random_company.py",
    "test_embedded.py",
    "test_embedded_recovery.py",
    "test_costly_tables.py",
    "test_handover.py",
    "test_readme.py",
    "test_northwind_books.py",
    "test_doctor.py",
    "test_backups_until.py",
    "test_operations.py",
    "test_session_ends.py",
    "test_secondaries.py",
    "test_environment.py",
    "test_backups.py",
    "test_restore_limits.py",
    "test_books_after_kill.py",
    "test_typescript_client.py",
    "test_server.py",
    "test_tls.py",
    "test_proxy_protocol.py",
    "test_verify_ledgers.py",
    "test_orphans.py",
    "test_take_over_model.py",
    "test_approval_model.py",
    "test_model.py",
    "test_history_after_kill.py",
    "test_stock_concurrency.py",
    "test_data_reset_orphans.py",
    "test_figures.py",
    "test_responsible_department.py",
    "test_company_month.py",
    "test_stock_property.py",
    "test_xss_in_browser.py",
    "test_in_browser.py",
    "test_audit.py",
    "test_credit_limit.py",
    "test_vouchers_property.py",
    "test_handover_killed.py",
    "test_killed_server.py",
    "test_sessions_after_kill.py",
    "test_rehearsal_model.py",
    "test_costly_images.py",
)
_PLACES = {name: place for place, name in enumerate(LONGEST)}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import files without a test that is marked `alone` where only those run."""
    if config.option.markexpr != "alone" or not collection_path.match("test_*.py"):
        return None
    return b"mark.alone" not in collection_path.read_bytes() or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt what is made here, and stays for the whole run, from the garbage collector, as the service does at a start."""
    garbage_collection.pause()
    try:
        return (yield)
    finally:
        garbage_collection.exempt_and_resume()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every coroutine test its own limit several times over; what takes longest begins first."""
    sizes = Counter(item.path for item in items)
    items.sort(key=lambda item: (_PLACES.get(item.path.name, len(LONGEST)), -sizes[item.path]))
    for item in items:
        marked = item.get_closest_marker("gen_test")
        if marked is not None and "timeout" in marked.kwargs:
            # a mark is shared by all cases of a test, so each gets one of its own
            item.add_marker(pytest.mark.gen_test(timeout=marked.kwargs["timeout"] * PATIENCE), append=False)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let pytest-rerunfailures send at once: it tells of each test that it begins, and then asks about the next one.

    By Nagle's algorithm the question waits for the acknowledgement of what was told, which the kernel delays by 40 ms.
    """
    connection = getattr(getattr(session.config, "failures_db", None), "sock", None)
    if connection is not None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


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
