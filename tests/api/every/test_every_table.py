"""Every collection with tables: what is exported and imported into an empty collection is the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from handlers.route import Route
from handlers.tables.handlers import Export, StartImport, Template
from handlers.tables.rows import RecordWriter, find_route, unique_code
from handlers.tables.table import Table
from plugins.api.business import RATES_TABLE
from plugins.boot.runtime import Running
from plugins.testing import Client, expect
from tests.api.crm.tables import as_csv, as_xlsx, form, read_csv, read_xlsx
from tests.support.catalogue import CATALOGUE, chosen_routes, stand_ins
from tests.support.special_requests import HAND_MADE
from tests.support.valid_requests import Maker

pytestmark = pytest.mark.gen_test(timeout=60)
EXPORTS = [route for route in chosen_routes() if isinstance(route.handler, Export)]
_EXPORTED = [route.handler.table.collection for route in EXPORTS if isinstance(route.handler, Export)]
IMPORTS = [
    route
    for route in chosen_routes()
    if isinstance(route.handler, StartImport) and route.handler.table.collection in _EXPORTED
]
KINDS = [
    ("csv", "names", "zh"),
    ("xlsx", "names", "en"),
    ("csv", "labels", "zh"),
    ("xlsx", "labels", "zh"),
    ("csv", "labels", "en"),
    ("xlsx", "labels", "en"),
]
READ = {"csv": read_csv, "xlsx": read_xlsx}


def table_of(route: Route) -> Table:
    assert isinstance(route.handler, StartImport | Export | Template)
    return route.handler.table


def name_of(route: Route) -> str:
    return table_of(route).collection.name


def changes(route: Route) -> bool:
    """Whether a row can change a record: documents are not changed by tables, nor are records without such a route."""
    table = table_of(route)
    return not table.lines and find_route(CATALOGUE, table.collection.update) is not None


_LINES = {name_of(one): table_of(one).lines for one in EXPORTS}
# an export of documents that has no row for each line is not imported
RETURNING = [route for route in IMPORTS if _LINES[name_of(route)] == table_of(route).lines]
# of each way to write a row, those with the most columns
_BY_WRITER = stand_ins(
    sorted(RETURNING, key=lambda one: -len(table_of(one).columns.writable)), lambda one: table_of(one).writer
)
EVERY_IMPORT = pytest.mark.parametrize("route", _BY_WRITER, ids=name_of)
EVERY_CHANGE = pytest.mark.parametrize("route", [one for one in _BY_WRITER if changes(one)], ids=name_of)
CODED = [route for route in RETURNING if unique_code(table_of(route).collection)]
ONE_OF_EACH_WRITER = {table_of(route).writer: route for route in reversed(CODED)}.values()


async def filled(route: Route, chief: Client, running: Running) -> list[dict[str, Any]]:
    """Empty the collection, and create a full record and one with its required fields alone; what is stored of them."""
    table = table_of(route)
    await emptied(table, chief, running)
    maker = Maker(chief, HAND_MADE, running.catalogue)
    creator = maker.creator(table.collection.name)
    for only_required in (False, True) if creator else ():
        expect(await (await maker.exercise(creator, only_required=only_required)).send())
    return await stored(table, running)


async def emptied(table: Table, chief: Client, running: Running) -> None:
    """Delete the records, so that other records take note, and what is left of the collection."""
    delete = next((one for one in running.catalogue.routes if one.name == f"DELETE {path_of(table)}/{{id}}"), None)
    for record in await running.service.database.store(table.collection).find(sort="id") if delete else ():
        await chief.delete(f"{path_of(table)}/{record['id']}")
    await running.service.database.wipe(table.collection)


def path_of(table: Table) -> str:
    """The path of its list."""
    return next(one.path for one in EXPORTS if table_of(one).collection is table.collection).removesuffix("/export")


async def stored(table: Table, running: Running) -> list[dict[str, Any]]:
    """What clients wrote of each record."""
    records = await running.service.database.store(table.collection).find()
    below = {name for name, target in table.collection.references.items() if target == table.collection.name}
    names = [name for name, field in table.collection.writable.items() if name not in below and not field.write_only]
    values = {record["id"]: {name: record[name] for name in names} for record in records}
    # another record of the collection has another id now
    above = [{name: values.get(record[name]) for name in below} for record in records]
    return sorted(({**own, **refers} for own, refers in zip(values.values(), above, strict=True)), key=repr)


async def sent(route: Route, chief: Client, content: bytes, language: str = "zh", **flags: str) -> dict[str, Any]:
    raw, headers = form({**flags, "file": ("table", content)})
    report: dict[str, Any] = expect(
        await chief.post(route.path, raw=raw, headers={**headers, "Accept-Language": language})
    )
    return report


@EVERY_IMPORT
async def test_what_is_exported_and_imported_when_empty_is_the_same(
    route: Route, chief: Client, elsewhere: Running
) -> None:
    at = IMPORTS.index(route)
    await check_round_trip(route, (KINDS[at % 6], KINDS[(at + 3) % 6]), chief, elsewhere)


async def check_round_trip(
    route: Route, kinds: Iterable[tuple[str, str, str]], chief: Client, running: Running
) -> None:
    """A dry run says what would be and writes nothing, an import gives what was there, another one changes nothing."""
    table = table_of(route)
    before = await filled(route, chief, running)
    assert len(before) >= 2
    for kind, headers, language in kinds:
        path = route.path.removesuffix("import") + f"export?format={kind}&headers={headers}"
        reply = await chief.get(path, headers={"Accept-Language": language})
        assert (reply.status, len(READ[kind](reply.body))) == (200, len(before) + 1), reply.body
        await emptied(table, chief, running)
        dry = await sent(route, chief, reply.body, language, dry_run="true")
        assert (dry["errors"], dry["created"]) == ([], len(before)), reply.body.decode(errors="replace")
        assert await stored(table, running) == []
        report = await sent(route, chief, reply.body, language)
        assert (report["errors"], report["created"]) == ([], len(before)), reply.body.decode(errors="replace")
        assert await stored(table, running) == before, (kind, headers, language)
        again = await sent(route, chief, (await chief.get(path, headers={"Accept-Language": language})).body, language)
        if not changes(route):
            assert {one["rule"] for one in again["errors"]} == {"duplicate"}
            assert (again["created"], again["failed"]) == (0, len(before))
        else:
            assert (again["errors"], again["unchanged"]) == ([], len(before))


@EVERY_IMPORT
async def test_an_empty_template_is_imported(route: Route, chief: Client, elsewhere: Running) -> None:
    idle = await elsewhere.service.database.find_empty([RATES_TABLE])
    columns = [one for one in table_of(route).columns.writable if one.field.only_with not in idle]
    for kind, language in (("csv", "zh"), ("xlsx", "en")):
        path = route.path.removesuffix("import") + f"template?format={kind}"
        reply = await chief.get(path, headers={"Accept-Language": language})
        (header,) = READ[kind](reply.body)
        assert header == [column.label.text("en" if language == "en" else "zh") for column in columns]
        report = await sent(route, chief, reply.body)
        assert (report["status"], report["total"], report["failed"]) == ("finished", 0, 0)


@pytest.mark.parametrize("route", ONE_OF_EACH_WRITER, ids=name_of)
@pytest.mark.parametrize("at_once", [1, 50])
async def test_a_dry_run_counts_a_row_whose_code_comes_twice_as_the_import_does(
    route: Route, at_once: int, chief: Client, elsewhere: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    await check_counts(route, at_once, chief, elsewhere, monkeypatch)


async def check_counts(
    route: Route, at_once: int, chief: Client, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RecordWriter, "rows_at_once", at_once)
    await filled(route, chief, running)
    headers, *rows = read_csv((await chief.get(route.path.removesuffix("import") + "export")).body)
    await emptied(table_of(route), chief, running)
    code = headers.index(unique_code(table_of(route).collection))
    twice = as_csv([headers, *rows, *(row for row in rows if row[code])])
    reports = [await sent(route, chief, twice, dry_run=dry_run) for dry_run in ("true", "false")]
    dry, written = ([report[name] for name in ("created", "updated", "unchanged", "failed")] for report in reports)
    assert dry == written


@pytest.mark.parametrize("route", IMPORTS[:1], ids=name_of)
@pytest.mark.parametrize("write", [as_csv, as_xlsx])
async def test_headers_that_are_unknown_or_come_twice_are_named(route: Route, write: Any, chief: Client) -> None:
    first = table_of(route).columns.writable[0]
    for headers in (["no such column"], [first.name, first.label.zh], [first.name, first.name]):
        raw, given = form({"file": ("table", write([headers, ["x"] * len(headers)]))})
        reply = await chief.post(route.path, raw=raw, headers=given)
        expect(reply, 40001)
        assert reply.fields == {headers[-1]} | ({headers[0]} if len(headers) > 1 else set())


@pytest.mark.parametrize("route", {bool(table_of(one).query): one for one in EXPORTS}.values(), ids=name_of)
async def test_an_export_has_the_chosen_columns_and_no_others(route: Route, chief: Client, elsewhere: Running) -> None:
    table = table_of(route)
    chosen = [column.name for column in reversed(table.shown[:3])]
    # a table of one party names it
    path = (await Maker(chief, HAND_MADE, elsewhere.catalogue).exercise(route)).path
    at = f"{path}{'&' if '?' in path else '?'}fields="
    rows = read_csv((await chief.get(f"{at}{','.join(chosen)}")).body)
    assert rows[0] == chosen
    expect(await chief.get(f"{at}no_such"), 40001)


def test_no_table_holds_what_clients_never_read() -> None:
    held = {}
    for table in map(table_of, EXPORTS):
        hidden = {name for name, field in table.collection.fields.items() if field.write_only or field.secret}
        names = {column.name.partition(".")[0] for column in table.columns.all}
        held[table.collection.name] = names & {*hidden, *table.collection.internal, "deleted"}
    assert {name: columns for name, columns in held.items() if columns} == {}


def test_every_export_offers_its_columns_and_no_others() -> None:
    """So that each of them is asked for columns as its representative is."""
    offered = {route.name: (route.query["fields"].items, table_of(route).columns.by_name) for route in EXPORTS}
    wrong = [name for name, (item, names) in offered.items() if item is None or {*item.rules["enum"]} != {*names}]
    assert wrong == []
