"""Every collection with tables: what a spreadsheet program writes after opening an export changes nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from handlers.route import Route
from plugins.boot.runtime import Running
from plugins.testing import Client
from tests.api.crm.tables import CUSTOMERS, as_csv, as_xlsx, import_table, read_csv, read_xlsx
from tests.api.every.test_every_table import EVERY_CHANGE, filled, sent, stored, table_of

pytestmark = pytest.mark.gen_test(timeout=60)
DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})( [0-9]{2}:[0-9]{2}.*)?")
CLOCK = re.compile(r"[0-9]{2}:[0-9]{2}")
# how Excel shows, and so saves, days
DAYS: Mapping[str, str] = {"zh": "{0}/{1}/{2}", "en": "{1}/{2}/{0}"}


def saved(cell: str, language: str) -> str:
    """A cell as Excel saves it: days and times without zeros in front, and times to the minute."""
    if CLOCK.fullmatch(cell):
        return cell.removeprefix("0")
    if found := DAY.fullmatch(cell):
        day = DAYS[language].format(*(int(part) for part in found.groups()[:3]))
        return f"{day} {found[4][1:6].removeprefix('0')}" if found[4] else day
    return cell.upper() if cell in ("true", "false") else cell


@EVERY_CHANGE
async def test_an_export_that_excel_saved_changes_nothing(route: Route, chief: Client, elsewhere: Running) -> None:
    before = await filled(route, chief, elsewhere)
    for language in DAYS:
        path = route.path.removesuffix("import") + "export?headers=labels&format=csv"
        exported = read_csv((await chief.get(path, headers={"Accept-Language": language})).body)
        report = await sent(
            route, chief, as_csv([[saved(cell, language) for cell in row] for row in exported]), language
        )
        assert (report["errors"], report["unchanged"]) == ([], len(before)), (exported, language)
    assert await stored(table_of(route), elsewhere) == before


@pytest.mark.parametrize(
    "written", ["13/3/2027 9:00", "2027/13/5 9:00", "03/05/2027 9:00", "3/5/27 9:00", "2027/3/5 25:00"]
)
async def test_a_time_that_could_be_another_one_is_refused(written: str, admin: Client) -> None:
    report = await import_table(admin, as_csv([["name", "next_follow_at"], ["Spreadsheets Ltd", written]]))
    assert [(error["column"], error["rule"]) for error in report["errors"]] == [("next_follow_at", "format")]


async def test_numbers_of_a_workbook_are_read_and_written_to_fifteen_digits(admin: Client) -> None:
    rows = [["code", "name", "remark"], *([f"DIGITS-{at}", "Digits Ltd", number] for at, number in enumerate(NUMBERS))]
    report = await import_table(admin, as_xlsx(rows), "customers.xlsx")
    assert report["errors"] == []
    reply = await admin.get(f"{CUSTOMERS}/export?format=xlsx&q=DIGITS&fields=code,remark")
    assert dict(read_xlsx(reply.body)[1:]) == {f"DIGITS-{at}": text for at, text in enumerate(NUMBERS.values())}


NUMBERS = {
    0.1 + 0.2: "0.3",
    1.1 * 3: "3.3",
    4.35 * 100: "435",
    0.00001: "0.00001",
    123456789012345.0: "123456789012345",
}
