"""No part of a cell is run as a formula, wherever a spreadsheet splits a CSV, and every cell reads back unchanged."""

from __future__ import annotations

import random
import re

import pytest

from handlers.tables.cells import escape_cell, unescape_cell
from plugins.testing import People, expect
from tests.api.crm.sales import CUSTOMERS, customer, seller
from tests.api.crm.tables import import_table, read_csv

pytestmark = pytest.mark.gen_test(timeout=60)
# how a spreadsheet in a locale with `;` splits a line
SPLIT = re.compile(r"[;\r\n]")
LETTERS = "=+-@＝＋－＠;;\r\n\t '\"ab1,"


@pytest.mark.parametrize("seed", range(20))
def test_no_part_of_a_cell_is_run_as_a_formula_and_every_cell_reads_back(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(500):
        cell = "".join(chance.choices(LETTERS, k=chance.randint(0, 12)))
        guarded = str(escape_cell(cell))
        assert [part for part in SPLIT.split(guarded) if part.lstrip()[:1] in tuple("=+-@＝＋－＠")] == []
        assert unescape_cell(guarded) == cell


async def test_tags_and_remarks_are_escaped_in_an_export_and_read_back(people: People) -> None:
    mine = await seller(people)
    made = await customer(mine, name="a;=1+1", tags=["one", "=HYPERLINK(1)", "+2"], remark="first\n@SUM(A1)\n- item")
    reply = await mine.get(f"{CUSTOMERS}/export?format=csv")
    _, *rows = read_csv(reply.body)
    parts = [part for row in rows for cell in row for part in SPLIT.split(cell)]
    assert [part for part in parts if part.lstrip()[:1] in tuple("=+-@")] == []
    report = await import_table(mine, reply.body)
    assert [report[count] for count in ("created", "updated", "unchanged", "failed")] == [0, 0, 1, 0]
    assert expect(await mine.get(f"{CUSTOMERS}/{made['id']}")) == made
