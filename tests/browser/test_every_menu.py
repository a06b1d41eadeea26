"""Every menu of the console opens in a browser: nothing is refused, nothing fails, and people understand what it says."""

from __future__ import annotations

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client
from tests.browser.browser import Console
from tests.browser.menus import walk

pytestmark = pytest.mark.gen_test(timeout=180)


async def test_every_menu_opens_in_chinese(console: Console, company: Running, admin: Client) -> None:
    codes, english = await walk(console, company.url, admin, "zh")
    assert len(codes) > 60
    assert english == []
