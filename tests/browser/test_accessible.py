"""axe-core finds nothing serious on the main pages: what people with screen readers and keys would stumble over."""

from __future__ import annotations

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client
from tests.browser.accessible import DESK, MAIN, nothing_serious_is_found
from tests.browser.browser import Console

pytestmark = pytest.mark.gen_test(timeout=120)


async def test_nothing_serious_is_found_on_the_main_pages(console: Console, company: Running, admin: Client) -> None:
    await nothing_serious_is_found(console, company, admin, "light", DESK, MAIN)
