"""A field with the key of a private file: the file is chosen in the form, and what becomes of it is in the list."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client
from tests.browser.browser import Console, do
from tests.browser.test_forms import CONFIRM, choose_file
from tests.support.e_invoice_files import digitalised, fresh_number

pytestmark = pytest.mark.gen_test(timeout=180)


async def test_an_e_invoice_that_is_chosen_in_a_form_becomes_a_draft(
    console: Console, company: Running, admin: Client, tmp_path: Path
) -> None:
    number, path = fresh_number(), tmp_path / "invoice.xml"
    path.write_bytes(digitalised(number))
    await do(console.visit, company.url, admin, "#/finance/invoices")
    await do(console.click, "New from an e-invoice")
    await do(console.until, lambda: console.count(".antd-Drawer .stored-file input[type=file]"))
    await do(choose_file, console, ".antd-Drawer .stored-file", path)
    await do(console.until, lambda: path.name in console.shown(".antd-Drawer .stored-file"))
    await do(console.press, CONFIRM)
    await do(console.until, lambda: number in console.shown("main"))
    await do(console.check, "from an e-invoice")
