"""Export of customers within the caller's scope, and import row by row."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from config.database import DatabaseUnavailable
from handlers.access.actor import Actor
from handlers.confined.pool import Confined
from handlers.data import collection
from handlers.data.lists.search import search_values
from handlers.tables.exporting import Workbook
from handlers.tables.lanes import Lanes
from handlers.tables.running import _Import
from plugins.boot.runtime import Running
from plugins.crm.customer_tables import IMPORT_ROWS, IMPORTS, resume
from plugins.testing import Client, People, eventually, expect, unique
from tests.api.crm.sales import CUSTOMERS, Record, customer, seller
from tests.api.crm.tables import as_csv, as_xlsx, form, import_table, read_csv, read_xlsx

pytestmark = pytest.mark.gen_test(timeout=40)
FORMATS = pytest.mark.parametrize(("format", "read"), [("csv", read_csv), ("xlsx", read_xlsx)])
WRITERS = pytest.mark.parametrize("write", [as_csv, as_xlsx])
COUNTS = ("created", "updated", "unchanged", "failed")


def counts(report: Record) -> list[int]:
    return [report[name] for name in COUNTS]


async def rows_of(client: Client, read: Callable[[bytes], list[list[Any]]], query: str) -> list[Record]:
    reply = await client.get(f"{CUSTOMERS}/export?{query}")
    assert reply.status == 200, reply.body
    header, *rows = read(reply.body)
    return [dict(zip(header, row, strict=True)) for row in rows]


@FORMATS
async def test_an_export_applies_the_callers_scope_and_filters(format: str, read: Any, people: People) -> None:
    mine, other = await seller(people), await seller(people)
    await customer(other, name="not mine", level="A")
    await customer(mine, name="level B", level="B")
    await customer(mine, name="level A", level="A", location={"lng": 121.5, "lat": 31.25}, tags=["a", "b"])
    found = await rows_of(mine, read, f"format={format}&level=A")
    assert [(row["name"], row["tags"], float(row["location.lng"])) for row in found] == [("level A", "a;b", 121.5)]


async def test_a_cancelled_workbook_leaves_no_process(tmp_path: Path) -> None:
    async def rows() -> AsyncIterator[list[list[str]]]:
        while True:
            yield [["name"]] * 100

    confined = Confined(at_once=1, memory_bytes=512 << 20)
    lane = Lanes.open(confined).writing
    try:
        workbook = await Workbook.begin(lane, None, rows())
        (work,) = lane._present
        process = work._process
        assert process is not None
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await anext(aiter(workbook))
        assert process.is_running
        await workbook.aclose()

        async def gone() -> bool:
            return not process.is_running

        await eventually(gone, 20)
    finally:
        await confined.close()


async def test_an_export_needs_its_own_permission(people: People) -> None:
    person = await people.person(["crm:customer:list", "crm:customer:read"])
    expect(await person.get(f"{CUSTOMERS}/export"), 40300)


async def test_an_export_has_every_row_in_the_requested_order(people: People) -> None:
    mine = await seller(people)
    await import_table(mine, as_csv([["name"], *[[f"n{number:04}"] for number in range(1100)]]))

    async def all_there() -> bool:
        return bool(expect(await mine.get(CUSTOMERS))["total"] == 1100)

    await eventually(all_there, 20)
    names = [row["name"] for row in await rows_of(mine, read_csv, "sort=name")]
    assert names == [f"n{number:04}" for number in range(1100)]


@FORMATS
async def test_an_export_retries_a_query_that_the_database_ended(
    format: str, read: Any, people: People, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, driver = await seller(people), tradewind.service.database.driver
    names = [f"n{number:04}" for number in range(1100)]
    await import_table(mine, as_csv([["name"], *[[name] for name in names]]))

    async def all_there() -> bool:
        return bool(expect(await mine.get(CUSTOMERS))["total"] == len(names))

    await eventually(all_there, 20)
    find, pages = driver.find, iter(range(100))

    async def killed(collection: str, *arguments: Any, **options: Any) -> Any:
        # the first page is read before the response begins; of the others every second query is killed
        if collection == "crm_customers" and options["limit"] > 500 and next(pages) % 2:
            raise DatabaseUnavailable("QueryPlanKilled: an index was dropped")
        return await find(collection, *arguments, **options)

    monkeypatch.setattr(driver, "find", killed)
    found = await rows_of(mine, read, f"format={format}&sort=name")
    assert [row["name"] for row in found] == names
    assert next(pages) == 5


@FORMATS
@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "'=1", "\t=1", " =1", "＝1"])
async def test_no_cell_is_run_as_a_formula_and_every_cell_reads_back(
    format: str, read: Any, name: str, people: People
) -> None:
    mine = await seller(people)
    made = await customer(mine, name=name, remark=name)
    reply = await mine.get(f"{CUSTOMERS}/export?format={format}")
    _header, *rows = read(reply.body)
    assert not any(str(cell).lstrip()[:1] in "=+-@＝" for row in rows for cell in row if isinstance(cell, str) and cell)
    report = await import_table(mine, reply.body)
    assert counts(report) == [0, 0, 1, 0]
    assert expect(await mine.get(f"{CUSTOMERS}/{made['id']}")) == made


@FORMATS
async def test_an_export_can_be_imported_again(format: str, read: Any, people: People) -> None:
    mine = await seller(people)
    made = await customer(
        mine,
        name='晨光,"科技"\n二厂',
        code=unique("C"),
        phone="0086 021",
        tags=["a;b", "c"],
        next_follow_at="2030-01-01T00:00:00Z",
        location={"lng": -0.5, "lat": 0},
        email="office@example.com",
    )
    without_code = await customer(mine, name="no code")
    table = (await mine.get(f"{CUSTOMERS}/export?format={format}")).body
    assert counts(await import_table(mine, table)) == [0, 0, 2, 0]
    expect(await mine.patch(f"{CUSTOMERS}/{made['id']}", {"version": 1, "name": "x", "tags": []}))
    assert counts(await import_table(mine, table)) == [0, 1, 1, 0]
    again = expect(await mine.get(f"{CUSTOMERS}/{made['id']}"))
    assert {**again, "version": 1, "updated_at": made["updated_at"]} == made
    assert expect(await mine.get(CUSTOMERS))["total"] == 2
    assert expect(await mine.get(f"{CUSTOMERS}/{without_code['id']}")) == without_code


@WRITERS
async def test_a_bad_row_is_reported_and_fails_alone(write: Any, people: People) -> None:
    mine = await seller(people)
    rows = [
        ["name", "code", "location.lng", "location.lat"],
        ["good", unique("C"), 1, 2],
        ["", "x", "", ""],
        ["bad", "", 999, "b"],
    ]
    report = await import_table(mine, write(rows), "table.bin")
    assert (report["status"], report["total"], counts(report)) == ("finished", 3, [1, 0, 0, 2])
    assert {(one["row"], one["column"], one["rule"]) for one in report["errors"]} == {
        (3, "name", "required"),
        (4, "location.lng", "maximum"),
        (4, "location.lat", "type"),
    }
    assert all(one["message"] for one in report["errors"])


async def test_rows_are_numbered_like_in_a_spreadsheet(people: People) -> None:
    mine = await seller(people)
    report = await import_table(mine, as_csv([["name", "remark"], ["a", "two\nlines"], [], ["", "no name"]]))
    assert [(one["row"], one["column"]) for one in report["errors"]] == [(4, "name")]


async def test_a_row_with_an_existing_code_updates_its_customer(people: People) -> None:
    mine = await seller(people)
    made = await customer(mine, code=unique("C"), phone="1", level="A")
    table = as_csv([["code", "name", "level"], [made["code"], "new name", ""], [unique("C"), "another", "B"]])
    assert counts(await import_table(mine, table)) == [1, 1, 0, 0]
    changed = expect(await mine.get(f"{CUSTOMERS}/{made['id']}"))
    assert (changed["name"], changed["phone"], changed["level"]) == ("new name", "1", "A")


async def test_a_code_of_an_invisible_customer_is_an_error_of_its_row(people: People) -> None:
    mine, other = await seller(people), await seller(people)
    foreign = await customer(other, code=unique("C"))
    report = await import_table(mine, as_csv([["code", "name"], [foreign["code"], "stolen"], ["", "mine"]]))
    assert [(one["row"], one["column"], one["rule"]) for one in report["errors"]] == [(2, "code", "duplicate")]
    assert report["created"] == 1


@WRITERS
async def test_a_cell_beyond_the_headers_is_an_error_of_its_row(write: Any, people: People) -> None:
    report = await import_table(
        await seller(people), write([["name", "level"], ["a", "A", "", "lost"], ["b", "B", ""]])
    )
    assert [(one["row"], one["column"], one["rule"]) for one in report["errors"]] == [(2, "4", "unknown")]
    assert report["created"] == 1


async def test_a_row_may_name_an_owner_whom_the_caller_does_not_see(people: People) -> None:
    mine, other = await seller(people), await seller(people)
    assert counts(await import_table(mine, as_csv([["name", "owner_id"], ["a", other.user["userId"]]]))) == [1, 0, 0, 0]
    assert expect(await other.get(CUSTOMERS))["total"] == 1


@pytest.mark.parametrize("flag", ["true", "True", "1"])
async def test_a_dry_run_writes_nothing(flag: str, people: People) -> None:
    mine = await seller(people)
    report = await import_table(mine, as_csv([["name"], ["a"], ["b"]]), dry_run=flag)
    assert counts(report) == [2, 0, 0, 0]
    assert expect(await mine.get(CUSTOMERS))["total"] == 0


@pytest.mark.parametrize("atomic", ["false", "true"])
@pytest.mark.parametrize("between", [0, 250], ids=["near", "far"])
async def test_a_dry_run_counts_rows_that_name_a_customer_of_a_row_above_as_the_import_does(
    between: int, atomic: str, people: People
) -> None:
    mine, code = await seller(people), unique("C")
    others = [[f"n{number}", ""] for number in range(between)]
    table = as_csv([["name", "code"], ["a", code], *others, ["a", code], ["b", code]])
    rehearsed = counts(await import_table(mine, table, dry_run="true", atomic=atomic))
    assert rehearsed == counts(await import_table(mine, table, atomic=atomic)) == [1 + between, 1, 1, 0]


async def test_atomic_is_all_or_nothing(people: People) -> None:
    mine = await seller(people)
    bad = await import_table(mine, as_csv([["name", "email"], ["a", ""], ["b", "no address"]]), atomic="true")
    assert (bad["status"], counts(bad)) == ("failed", [0, 0, 0, 1])
    assert expect(await mine.get(CUSTOMERS))["total"] == 0
    good = await import_table(mine, as_csv([["name"], ["a"], ["b"]]), atomic="true")
    assert (good["status"], counts(good)) == ("finished", [2, 0, 0, 0])
    assert expect(await mine.get(CUSTOMERS))["total"] == 2


async def test_an_unknown_column_is_refused_as_a_whole(admin: Client) -> None:
    raw, headers = form({"file": ("x.csv", b"name,colour\na,red\n")})
    reply = await admin.post(f"{CUSTOMERS}/import", raw=raw, headers=headers)
    expect(reply, 40001)
    assert reply.fields == {"colour"}


@pytest.mark.parametrize("content", [b"\xff\xff\xff\x00", b"PK\x03\x04 no workbook", b'name\n"open'])
async def test_a_file_that_is_not_a_table_is_refused(content: bytes, admin: Client) -> None:
    raw, headers = form({"file": ("x.csv", content)})
    assert (await admin.post(f"{CUSTOMERS}/import", raw=raw, headers=headers)).code in (41500, 40001)


async def test_a_retried_import_writes_once(people: People) -> None:
    mine = await seller(people)
    raw, headers = form({"file": ("x.csv", b"name\na\n")})
    headers["Idempotency-Key"] = unique("key")
    first, second = [expect(await mine.post(f"{CUSTOMERS}/import", raw=raw, headers=headers)) for _ in range(2)]
    assert first == second
    assert expect(await mine.get(CUSTOMERS))["total"] == 1


async def test_an_import_is_visible_to_its_creator_only(people: People) -> None:
    mine, other = await seller(people), await seller(people)
    report = await import_table(mine, as_csv([["name"], ["a"]]))
    expect(await other.get(f"{CUSTOMERS}/imports/{report['id']}"), 40400)
    assert expect(await other.get(f"{CUSTOMERS}/imports"))["items"] == []


async def test_the_imports_of_a_person_are_listed_the_newest_first(people: People) -> None:
    mine = await seller(people)
    first = await import_table(mine, as_csv([["name", "level"], ["", "A"]]), "first.csv")
    second = await import_table(mine, as_csv([["name"], ["a"]]), "second.csv")
    rows = expect(await mine.get(f"{CUSTOMERS}/imports"))["items"]
    assert [(row["id"], row["file_name"], row["failed"]) for row in rows] == [
        (second["id"], "second.csv", 0),
        (first["id"], "first.csv", 1),
    ]
    assert "errors" not in rows[0]


async def test_a_large_import_runs_in_the_background_and_reports_progress(people: People) -> None:
    mine = await seller(people)
    report = await import_table(mine, as_csv([["name"], *[[f"n{number}"] for number in range(1100)]]))
    seen = [report["done"]]

    async def finished() -> bool:
        now = expect(await mine.get(f"{CUSTOMERS}/imports/{report['id']}"))
        seen.append(now["done"])
        return bool(now["status"] == "finished")

    await eventually(finished, 20)
    assert report["status"] == "running"
    assert seen == sorted(seen)
    assert len(set(seen)) > 2
    assert seen[-1] == 1100


async def test_an_import_yields_to_other_requests(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, turn, rows_in = await seller(people), 0, Counter[int]()

    def counted(values: Any, persons: Any) -> dict[str, Any]:
        rows_in[turn] += 1
        return search_values(values, persons)

    async def others() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(collection, "search_values", counted)
    task = asyncio.create_task(others())
    await import_table(mine, as_csv([["name"], *[[f"n{number}"] for number in range(300)]]))
    task.cancel()
    assert (rows_in.total(), max(rows_in.values()) <= 20) == (300, True)


async def test_an_import_continues_when_the_database_is_back(
    people: People, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = await seller(people)

    async def away(_import: _Import) -> None:
        raise DatabaseUnavailable("away")

    with monkeypatch.context() as patched:
        patched.setattr(_Import, "row_by_row", away)
        report = await import_table(mine, as_csv([["name"], ["a"]]))
    assert report["status"] == "running"
    await resume(tradewind.service)
    report = expect(await mine.get(f"{CUSTOMERS}/imports/{report['id']}"))
    assert (report["status"], report["created"]) == ("finished", 1)


async def test_another_instance_finishes_an_import_that_was_left(admin: Client, tradewind: Running) -> None:
    database, me = tradewind.service.database, Actor(user_id=admin.user["userId"])
    names = [unique("left"), unique("left")]
    left = await database.store(IMPORTS, me).create({"headers": ["name"], "status": "running", "total": 2, "done": 1})
    await database.store(IMPORT_ROWS).create({"import_id": left["id"], "rows": [[3, [names[1]]]]})
    await resume(tradewind.service)
    found = expect(await admin.get(f"{CUSTOMERS}/imports/{left['id']}"))
    assert (found["status"], found["done"], found["created"]) == ("finished", 2, 1)
    assert [expect(await admin.get(f"{CUSTOMERS}?q={name}"))["total"] for name in names] == [0, 1]


@WRITERS
async def test_an_import_changes_customers_only_with_the_permission_to_update(write: Any, people: People) -> None:
    importing = ["crm:customer:import", "crm:customer:create", "crm:customer:list", "crm:customer:read"]
    clerk = await people.person(importing)
    first, second = unique("C"), unique("C")
    made = await import_table(clerk, write([["code", "name"], [first, "as it was"]]))
    assert counts(made) == [1, 0, 0, 0]
    rows = [["code", "name"], [first, "changed"], [second, "new"], [first, "as it was"]]
    for flags in ({"dry_run": "true"}, {}):
        report = await import_table(clerk, write(rows), **flags)
        assert counts(report) == [1, 0, 1, 1]
        assert [(one["row"], one["column"], one["rule"]) for one in report["errors"]] == [(2, "code", "permission")]
        assert report["errors"][0]["message"] == "该记录已存在，您没有修改权限"
    assert expect(await clerk.get(f"{CUSTOMERS}?q={first}"))["items"][0]["name"] == "as it was"
    both = await people.person([*importing, "crm:customer:update"])
    expect(await both.post(CUSTOMERS, {"name": "x", "code": unique("C")}))
    own = unique("C")
    await import_table(both, write([["code", "name"], [own, "as it was"]]))
    assert counts(await import_table(both, write([["code", "name"], [own, "changed"]]))) == [0, 1, 0, 0]
