"""Two hundred at once, where the tests of every day have forty: what is limited, numbered or unique stays so."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.testing import Client
from tests.api.auth.test_sessions import check_refreshes_at_once
from tests.api.finance.test_credit_limit import check_orders_at_once
from tests.api.finance.test_payments import check_payments_at_once
from tests.api.inventory.test_document_numbers import check_numbers_at_once
from tests.api.inventory.test_stock_concurrency import check_transfers_at_once

pytestmark = pytest.mark.gen_test(timeout=120)
MANY = 200


async def test_refreshes_of_one_token_make_one_successor(mongodb_uri: str, tmp_path: Path) -> None:
    await check_refreshes_at_once(mongodb_uri, tmp_path, MANY)


async def test_orders_never_exceed_one_limit(admin: Client) -> None:
    await check_orders_at_once(admin, MANY)


async def test_payments_of_one_item_settle_it_to_the_cent(admin: Client) -> None:
    await check_payments_at_once(admin, MANY)


async def test_orders_are_numbered_without_a_gap(admin: Client) -> None:
    await check_numbers_at_once(admin, MANY)


async def test_of_transfers_of_the_last_ten_pieces_ten_go(admin: Client) -> None:
    await check_transfers_at_once(admin, MANY)
