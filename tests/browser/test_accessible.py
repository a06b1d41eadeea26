"""axe-core finds nothing serious on the main pages: what people with screen readers and keys would stumble over."""

from __future__ import annotations

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client
from tests.browser.accessible import DESK, MAIN, PHONE, nothing_serious_is_found
from tests.browser.browser import Console

pytestmark = pytest.mark.gen_test(timeout=120)


@pytest.mark.parametrize(("theme", "size"), [("light", DESK), ("dark", PHONE)], ids=["desk", "phone"])
async def test_nothing_serious_is_found_on_the_main_pages(
    console: Console, company: Running, admin: Client, theme: str, size: tuple[int, int]
) -> None:
    await nothing_serious_is_found(console, company, admin, theme, size, MAIN)
