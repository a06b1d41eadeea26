"""Tables of contacts, products, positions and employees: what people write into cells, and what is refused of it."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.tables.running import _Import, resume_imports
from plugins.api.spreadsheets import imported_tables
from plugins.boot.runtime import Running
from plugins.crm import tables
from plugins.testing import Client, People, expect, unique
from tests.api.crm.sales import Record, customer
from tests.api.crm.tables import as_csv, as_xlsx, form, read_csv, read_xlsx

pytestmark = pytest.mark.gen_test(timeout=40)
CONTACTS, CUSTOMERS, PRODUCTS = "/api/v1/crm/contacts", "/api/v1/crm/customers", "/api/v1/inventory/products"
POSITIONS, EMPLOYEES = "/api/v1/hrm/positions", "/api/v1/hrm/employees"
ALL = [
    *(f"crm:{noun}:{action}" for noun in ("customer", "contact") for action in ("list", "read", "create", "update")),
    "crm:contact:import",
    "crm:contact:export",
]
WRITERS = pytest.mark.parametrize("write", [as_csv, as_xlsx])


async def imported(client: Client, at: str, content: bytes, **flags: str) -> Record:
    """The report of an import."""
    raw, headers = form({**flags, "file": ("table", content)})
    report: dict[str, Any] = expect(await client.post(f"{at}/import", raw=raw, headers=headers))
    return report


def faults(report: Record) -> list[tuple[int, str, str]]:
    return [(one["row"], one["column"], one["rule"]) for one in report["errors"]]


@WRITERS
async def test_labels_of_both_languages_and_names_of_references_are_understood(write: Any, people: People) -> None:
    mine = await people.person(ALL)
    name, code = unique("晨光"), unique("C")
    made = await customer(mine, name=name, code=code)
    rows = [["客户*", "NAME", "Primary contact"], [name, "a", "是"], [code, "b", "no"], [made["id"], "c", ""]]
    report = await imported(mine, CONTACTS, write(rows))
    assert (report["created"], faults(report)) == (3, [])
    found = expect(await mine.get(f"{CONTACTS}?sort=name"))["items"]
    assert [(one["customer_id"], one["name"], one["is_primary"]) for one in found] == [
        (made["id"], "a", True),
        (made["id"], "b", False),
        (made["id"], "c", False),
    ]


@WRITERS
async def test_a_name_that_several_records_have_is_an_error_of_its_row(write: Any, people: People) -> None:
    mine = await people.person(ALL)
    name = unique("two")
    await customer(mine, name=name)
    await customer(mine, name=name)
    report = await imported(mine, CONTACTS, write([["customer_id", "name"], [name, "a"], [unique("none"), "b"]]))
    assert faults(report) == [(2, "customer_id", "ambiguous"), (3, "customer_id", "reference")]
    assert report["errors"][0]["message"] == "对应多条记录，请改填编码或 ID"
    assert expect(await mine.get(CONTACTS))["total"] == 0


async def test_a_customer_whom_the_caller_does_not_see_is_no_reference(people: People) -> None:
    mine, other = await people.person(ALL), await people.person(ALL)
    name = unique("theirs")
    theirs = await customer(other, name=name)
    report = await imported(mine, CONTACTS, as_csv([["customer_id", "name"], [name, "a"], [theirs["id"], "b"]]))
    assert faults(report) == [(2, "customer_id", "reference"), (3, "customer_id", "reference")]


async def test_a_row_that_the_rules_of_the_plugin_refuse_fails_alone_with_their_message(admin: Client) -> None:
    lead = expect(await admin.post("/api/v1/crm/leads", {"name": unique("lead")}))
    expect(await admin.post(f"/api/v1/crm/leads/{lead['id']}/convert", {"customer_name": unique("c")}))
    rows = [["id", "name", "status"], ["", unique("first"), "new"], [lead["id"], "x", "new"], ["", unique("last"), ""]]
    report = await imported(admin, "/api/v1/crm/leads", as_csv(rows))
    assert (report["created"], report["updated"], report["failed"], report["done"]) == (2, 0, 1, 3)
    (error,) = report["errors"]
    assert (error["row"], error["rule"]) == (3, "conflict")
    assert error["message"]


@pytest.mark.parametrize(("format", "write", "reads"), [("csv", as_csv, read_csv), ("xlsx", as_xlsx, read_xlsx)])
@pytest.mark.parametrize("dry_run", ["true", "false"])
async def test_the_faulty_rows_come_back_as_a_table_to_correct(
    format: str, write: Any, reads: Any, dry_run: str, admin: Client, nobody: Client
) -> None:
    good, nameless, other = (f"00{unique('C')}" for _ in range(3))
    rows = [["code", "name", "level"], [good, "good", "A"], [nameless, "", "A"], [other, "-1", "none"]]
    report = await imported(admin, CUSTOMERS, write(rows), dry_run=dry_run)
    at = f"{CUSTOMERS}/imports/{report['id']}/faulty-rows"
    table = (await admin.get(f"{at}?format={format}")).body
    assert reads(table) == [rows[0], rows[2], [other, "'-1", "none"]]
    assert faults(await imported(admin, CUSTOMERS, table, dry_run="true")) == [
        (2, "name", "required"),
        (3, "level", "dictionary"),
    ]
    expect(await nobody.get(at), 40300)


async def test_an_import_without_faults_or_of_all_or_nothing_keeps_no_faulty_rows(admin: Client) -> None:
    for name, atomic in ((unique("good"), "false"), ("", "true")):
        report = await imported(admin, CUSTOMERS, as_csv([["name", "remark"], [name, "good"]]), atomic=atomic)
        expect(await admin.get(f"{CUSTOMERS}/imports/{report['id']}/faulty-rows"), 40400)


async def test_atomic_writes_nothing_when_a_row_is_refused(admin: Client) -> None:
    sku = unique("S")
    rows = [["sku", "name"], [sku, "a"], [unique("S"), ""]]
    report = await imported(admin, PRODUCTS, as_csv(rows), atomic="true")
    assert (report["status"], report["created"], faults(report)) == ("failed", 0, [(3, "name", "required")])
    assert expect(await admin.get(f"{PRODUCTS}?sku={sku}"))["total"] == 0


async def test_atomic_writes_nothing_when_a_row_becomes_wrong_after_the_check(
    admin: Client, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, names = await people.person(ALL), [unique("stays"), unique("goes")]
    _, goes = [await customer(mine, name=name) for name in names]
    check = _Import._check

    async def check_and_delete(run: _Import, rows: Any) -> Any:
        checked = await check(run, rows)
        expect(await admin.delete(f"{CUSTOMERS}/{goes['id']}"))
        return checked

    monkeypatch.setattr(_Import, "_check", check_and_delete)
    rows = [["customer_id", "name"], *([name, "a"] for name in names)]
    report = await imported(mine, CONTACTS, as_csv(rows), atomic="true")
    assert (report["status"], report["created"], report["failed"]) == ("failed", 0, 1)
    assert faults(report) == [(3, "customer_id", "reference")]
    assert expect(await mine.get(CONTACTS))["total"] == 0


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "＝1"])
async def test_formulas_are_escaped_and_come_back_unchanged(name: str, people: People) -> None:
    mine = await people.person(ALL)
    made = await customer(mine, name=unique("c"))
    contact = expect(await mine.post(CONTACTS, {"customer_id": made["id"], "name": name, "remark": name}))
    table = (await mine.get(f"{CONTACTS}/export?headers=labels")).body
    assert not any(cell.lstrip()[:1] in tuple("=+-@＝") for row in read_csv(table) for cell in row if cell)
    report = await imported(mine, CONTACTS, table)
    assert (report["unchanged"], report["failed"]) == (1, 0)
    expect(await mine.patch(f"{CONTACTS}/{contact['id']}", {"version": 1, "remark": "x"}))
    assert (await imported(mine, CONTACTS, table))["updated"] == 1
    assert expect(await mine.get(f"{CONTACTS}/{contact['id']}"))["remark"] == name


async def test_a_record_is_changed_only_with_the_permission_to_update(people: People) -> None:
    clerk = await people.person([code for code in ALL if code != "crm:contact:update"])
    made = await customer(clerk, name=unique("c"))
    contact = expect(await clerk.post(CONTACTS, {"customer_id": made["id"], "name": "a"}))
    table = as_csv([["id", "customer_id", "name"], [contact["id"], made["id"], "b"]])
    assert faults(await imported(clerk, CONTACTS, table)) == [(2, "id", "permission")]


@pytest.mark.parametrize("atomic", ["false", "true"])
async def test_a_row_that_comes_twice_needs_no_permission_to_update(atomic: str, people: People) -> None:
    clerk = await people.person([f"inventory:product:{action}" for action in ("import", "create", "list", "read")])
    twice, others = [unique("S"), "a"], [[unique("S"), "b"] for _ in range(60)]  # more than one batch between the two
    table = as_csv([["sku", "name"], twice, *others, twice])
    for dry_run in ("true", "false"):
        report = await imported(clerk, PRODUCTS, table, dry_run=dry_run, atomic=atomic)
        assert (report["created"], report["unchanged"], faults(report)) == (61, 1, [])


@pytest.mark.parametrize("atomic", ["false", "true"])
async def test_a_unique_value_of_a_row_far_above_is_taken_in_a_dry_run_too(atomic: str, admin: Client) -> None:
    twice, others = [unique("P")], [[unique("P")] for _ in range(60)]  # more than one batch between the two
    table = as_csv([["name"], twice, *others, twice])
    for dry_run in ("true", "false"):
        report = await imported(admin, POSITIONS, table, dry_run=dry_run, atomic=atomic)
        assert (report["failed"], faults(report)) == (1, [(63, "name", "duplicate")])


async def test_a_unique_value_that_a_row_has_given_up_is_free_in_a_dry_run_too(admin: Client, people: People) -> None:
    first, second = [(await people.person([])).user["username"] for _ in range(2)]
    one, fillers = unique("E"), [[unique("E"), ""] for _ in range(120)]
    rows = [[one, first], *fillers[:60], [one, second], *fillers[60:], [unique("E"), first]]
    table = as_csv([["number", "user_id", "name", "hired_on"], *([*row, "a", "2026-01-01"] for row in rows)])
    for dry_run in ("true", "false"):
        report = await imported(admin, EMPLOYEES, table, dry_run=dry_run)
        assert (report["created"], report["updated"], faults(report)) == (122, 1, [])


async def test_a_second_row_with_the_code_of_the_first_changes_its_record(admin: Client) -> None:
    sku = unique("S")
    report = await imported(admin, PRODUCTS, as_csv([["sku", "name", "price"], [sku, "a", "1,234.50"], [sku, "b", ""]]))
    assert (report["created"], report["updated"], faults(report)) == (1, 1, [])
    (found,) = expect(await admin.get(f"{PRODUCTS}?sku={sku}"))["items"]
    assert (found["name"], found["price"]) == ("b", "1234.50")


async def test_columns_that_only_the_service_writes_are_ignored_and_named(admin: Client) -> None:
    report = await imported(admin, PRODUCTS, as_csv([["sku", "name", "创建时间"], [unique("S"), "a", "2020-01-01"]]))
    assert (report["created"], report["ignored"]) == (1, ["创建时间"])


async def test_headers_in_names_refuse_labels(admin: Client) -> None:
    raw, headers = form({"headers": "names", "file": ("table", "sku,名称\nx,y\n".encode())})
    reply = await admin.post(f"{PRODUCTS}/import", raw=raw, headers=headers)
    expect(reply, 40001)
    assert reply.fields == {"名称"}


async def test_imports_of_one_collection_are_not_those_of_another(admin: Client) -> None:
    report = await imported(admin, PRODUCTS, as_csv([["sku", "name"]]))
    expect(await admin.get(f"{PRODUCTS}/imports/{report['id']}"))
    expect(await admin.get(f"{CONTACTS}/imports/{report['id']}"), 40400)
    assert report["id"] not in [one["id"] for one in expect(await admin.get(f"{CONTACTS}/imports"))["items"]]


async def test_another_instance_finishes_rows_that_were_left(
    people: People, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = await people.person(ALL)
    made = await customer(mine, name=unique("c"))

    async def killed(_import: _Import) -> None:
        raise TimeoutError

    with monkeypatch.context() as patched:
        patched.setattr(_Import, "_go_on", killed)
        rows = [["customer_id", "name"], *[[made["id"], f"n{number:03}"] for number in range(120)]]
        report = await imported(mine, CONTACTS, as_csv(rows))
    assert report["created"] == 50
    imports = tradewind.service.database.store(tables_of("crm_contacts").imports)
    await imports.update_unversioned(
        {"_id": imports.collection.parse_id(report["id"])}, {"$set": {"status": "running"}}
    )
    await resume_imports(tradewind.service, [tables_of("crm_contacts")])
    report = expect(await mine.get(f"{CONTACTS}/imports/{report['id']}"))
    assert (report["status"], report["done"], report["created"]) == ("finished", 120, 120)
    assert expect(await mine.get(CONTACTS))["total"] == 120


def tables_of(collection: str) -> Any:
    return next(one for one in imported_tables(tables.ROUTES) if one.collection.name == collection)
