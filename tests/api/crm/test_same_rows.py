"""A table says which of its rows look like a row above them, or like a customer that is there already."""

from __future__ import annotations

import uuid

import pytest

from plugins.testing import Client, People, unique
from tests.api.crm.sales import customer, seller
from tests.api.crm.tables import as_csv, import_table

pytestmark = pytest.mark.gen_test(timeout=30)


def phone() -> str:
    return f"139{uuid.uuid4().int % 10**8:08d}"


async def warned(client: Client, *rows: tuple[str, str], **options: str) -> list[tuple[int, str, str]]:
    made = await import_table(client, as_csv([("name", "phone"), *rows]), **options)
    assert (made["created"], made["failed"]) == (len(rows), 0)
    return [(one["row"], one["column"], one["rule"]) for one in made["warnings"]]


@pytest.mark.parametrize("dry_run", ["true", "false"])
async def test_rows_of_one_file_are_compared_with_each_other(dry_run: str, admin: Client) -> None:
    one, other, name = phone(), phone(), unique("同名")
    rows = (
        (name, one),
        (unique("x"), f"+86 {one[:3]}-{one[3:]}"),
        (f" {name.upper()} ", other),
        (unique("x"), phone()),
    )
    found = await warned(admin, *rows, dry_run=dry_run)
    assert found == [(3, "phone", "possible_duplicate"), (4, "name", "possible_duplicate")]


async def test_rows_are_compared_with_the_customers_that_the_person_may_see(admin: Client, people: People) -> None:
    mine, theirs, person = phone(), phone(), await seller(people)
    await customer(person, name=unique("c"), phone=mine)
    await customer(admin, name=unique("c"), phone=theirs)
    rows = ((unique("x"), mine), (unique("x"), theirs))
    assert await warned(person, *rows, dry_run="true") == [(2, "phone", "possible_duplicate")]
    assert [row for row, *_ in await warned(admin, *rows, dry_run="true")] == [2, 3]


async def test_a_row_that_changes_a_customer_is_no_duplicate_of_it(admin: Client) -> None:
    code, number = unique("C"), phone()
    await customer(admin, name="x", code=code, phone=number)
    made = await import_table(admin, as_csv([("code", "name", "phone"), (code, unique("y"), number)]))
    assert (made["updated"], made["warnings"]) == (1, [])
