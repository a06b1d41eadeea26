"""What tests of dashboards leave behind is put in order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.crm.contract_records import PAYMENTS


@pytest.fixture(scope="module")
def payments_without_contracts(io_loop: IOLoop, tradewind: Running) -> Iterator[None]:
    """Payments may be stored without a contract, which no list could show: they are gone after the tests of a file."""
    yield
    io_loop.run_sync(lambda: tradewind.service.database.driver.delete_many(PAYMENTS.name, {"contract_id": None}))
