"""Fields that administrators add to records: each type goes through whatever a declared field goes through."""

from collections.abc import Iterator
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import Client, expect, unique
from tests.api.crm.tables import as_csv, as_xlsx, import_table, read_csv, read_xlsx

pytestmark = pytest.mark.gen_test(timeout=30)
AT = "/api/v1/system/custom-fields"
CUSTOMERS = "/api/v1/crm/customers"
Values = dict[str, Any]
# by type: the rest of its declaration, two values, and one that is refused with a rule
TYPES: dict[str, tuple[Values, Any, Any, Any, str]] = {
    "text": ({"filterable": True}, "M-1", "M-2", 7, "type"),
    "long_text": ({}, "a\nb", "c", "x" * 5001, "maxLength"),
    "integer": ({"filterable": True}, 7, -1, "7", "type"),
    "money": ({}, "12.50", "0.05", "1.234", "pattern"),
    "quantity": ({}, "1.2345", "3", "1.23456", "pattern"),
    "boolean": ({}, True, False, "yes", "type"),
    "day": ({}, "2026-11-29", "2027-01-01", "2026-02-30", "format"),
    "timestamp": ({}, "2026-11-29T01:02:03.004Z", "2027-01-01T00:00:00.000Z", "tomorrow", "format"),
    "choice": ({"dictionary": "crm_customer_level"}, "A", "B", "nope", "dictionary"),
    "reference": ({"target": "crm_customers", "filterable": True}, None, None, "65f0c0ffee65f0c0ffee65f0", "reference"),
}
EVERY_TYPE = pytest.mark.parametrize("kind", TYPES)


def declaration(kind: str, **values: Any) -> Values:
    """The body that declares a field of customers."""
    name = unique("f").replace("-", "_")
    labels = {"label": f"字段{name}", "label_en": f"Field {name}"}
    return {"collection": "crm_customers", "name": name, "type": kind, **labels, **TYPES[kind][0], **values}


@pytest.fixture(scope="module")
def declared(io_loop: IOLoop, admin: Client) -> Iterator[dict[str, str]]:
    """A field of each type on customers; the names that records have them under."""

    async def make() -> dict[str, Values]:
        return {kind: expect(await admin.post(AT, declaration(kind))) for kind in TYPES}

    async def take_away() -> None:
        for field in made.values():
            expect(await admin.delete(f"{AT}/{field['id']}"))

    made = io_loop.run_sync(make)
    yield {kind: f"x_{field['name']}" for kind, field in made.items()}
    io_loop.run_sync(take_away)


async def customer(admin: Client, **values: Any) -> Values:
    """A customer."""
    made: Values = expect(await admin.post(CUSTOMERS, {"name": unique("customer"), **values}))
    return made


async def two_values(admin: Client, kind: str) -> tuple[Any, Any]:
    """Two values of a type: of a reference, the ids of two customers."""
    if kind == "reference":
        return (await customer(admin))["id"], (await customer(admin))["id"]
    return TYPES[kind][1:3]


@EVERY_TYPE
async def test_a_record_has_it_from_its_creation_to_its_history(
    kind: str, admin: Client, declared: dict[str, str]
) -> None:
    name, (first, second) = declared[kind], await two_values(admin, kind)
    refused = await admin.post(CUSTOMERS, {"name": "x", name: TYPES[kind][3]})
    assert [(one["field"], one["rule"]) for one in expect(refused, 40001)["errors"]] == [(name, TYPES[kind][4])]
    made = await customer(admin, **{name: first})
    changed = expect(await admin.patch(f"{CUSTOMERS}/{made['id']}", {"version": 1, name: second}))
    assert (made[name], changed[name]) == (first, second)
    stale = expect(await admin.patch(f"{CUSTOMERS}/{made['id']}", {"version": 1, name: first}), 40902)
    assert stale["changed"] == [name]
    emptied = expect(await admin.patch(f"{CUSTOMERS}/{made['id']}", {"version": 2, name: None}))
    listed = expect(await admin.get(f"{CUSTOMERS}?q={made['name']}"))["items"][0]
    assert (emptied[name], listed[name]) == (None, None)
    history = expect(await admin.get(f"{CUSTOMERS}/{made['id']}/history", headers={"Accept-Language": "en"}))["items"]
    shown = [one for entry in history for one in entry["changes"] if one["field"] == name]
    assert [(one["before"], one["after"]) for one in shown] == [(second, None), (first, second), (None, first)]
    assert {one["label"] for one in shown} == {f"Field {name.removeprefix('x_')}"}


async def test_lists_are_filtered_and_sorted_by_it_with_an_index(
    admin: Client, declared: dict[str, str], tradewind: Running
) -> None:
    name, mark = declared["integer"], unique("list")
    for number in (3, 1, 2):
        await customer(admin, name=f"{mark}-{number}", **{name: number, declared["text"]: mark})
    found = expect(await admin.get(f"{CUSTOMERS}?{declared['text']}={mark}&sort=-{name}"))
    assert [one[name] for one in found["items"]] == [3, 2, 1]
    assert expect(await admin.get(f"{CUSTOMERS}?{declared['text']}={mark}&{name}=1,2"))["total"] == 2
    unknown = await admin.get(f"{CUSTOMERS}?{declared['day']}_from=2026-01-01&sort={declared['money']}")
    assert unknown.fields == {f"{declared['day']}_from"}
    find = {"find": "crm_customers", "filter": {"deleted": False, name: 3}}
    plan = await tradewind.service.database.driver.command({"explain": find, "verbosity": "queryPlanner"})
    assert f"{name}_1" in str(plan["queryPlanner"]["winningPlan"])


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
async def test_tables_export_and_import_it_under_its_label(kind: str, admin: Client, declared: dict[str, str]) -> None:
    values = {name: (await two_values(admin, type))[0] for type, name in declared.items()}
    made = await customer(admin, code=unique("code"), **values)
    fields = ",".join(("code", "name", *declared.values()))
    reply = await admin.get(f"{CUSTOMERS}/export?format={kind}&headers=labels&fields={fields}&q={made['name']}")
    head, row = {"csv": read_csv, "xlsx": read_xlsx}[kind](reply.body)
    assert head[2:] == [f"字段{name.removeprefix('x_')}" for name in declared.values()]
    code = unique("code")
    other = [code, code, *row[2:]]
    table = {"csv": as_csv, "xlsx": as_xlsx}[kind]([head, other])
    assert (await import_table(admin, table, f"customers.{kind}"))["created"] == 1
    imported = expect(await admin.get(f"{CUSTOMERS}?code={code}"))["items"][0]
    assert {name: imported[name] for name in values} == {
        **values,
        **{declared["timestamp"]: imported[declared["timestamp"]]},
    }


async def test_the_description_and_the_console_show_it(admin: Client, declared: dict[str, str]) -> None:
    document = (await admin.get("/api/openapi.json", headers={"Accept-Language": "en"})).json
    shapes = document["components"]["schemas"]
    for shape in ("Customer", "CustomerCreate", "CustomerUpdate"):
        assert set(declared.values()) <= shapes[shape]["properties"].keys()
    assert shapes["Customer"]["properties"][declared["choice"]]["x-dictionary"] == "crm_customer_level"
    page = (await admin.get("/api/v1/console/pages/crm.customer")).body.decode()
    assert all(name in page for name in declared.values())


async def test_a_reference_is_named_and_chosen_among_the_records(admin: Client, declared: dict[str, str]) -> None:
    name, other = declared["reference"], await customer(admin)
    made = await customer(admin, **{name: other["id"]})
    assert made[f"{name}_name"] == other["name"]
    expect(await admin.delete(f"{CUSTOMERS}/{other['id']}"))  # an own field keeps nobody from deleting
    assert expect(await admin.get(f"{CUSTOMERS}/{made['id']}"))[name] == other["id"]


async def test_a_required_one_is_asked_of_new_records_and_older_ones_stay(admin: Client) -> None:
    older = await customer(admin)
    field = expect(await admin.post(AT, declaration("integer", required=True, filterable=False)))
    name = f"x_{field['name']}"
    try:
        assert (await admin.post(CUSTOMERS, {"name": "x"})).fields == {name}
        changed = expect(await admin.patch(f"{CUSTOMERS}/{older['id']}", {"version": 1, "remark": "y"}))
        assert changed[name] is None
        assert (await admin.patch(f"{CUSTOMERS}/{older['id']}", {"version": 2, name: None})).fields == {name}
    finally:
        expect(await admin.delete(f"{AT}/{field['id']}"))
    await customer(admin)


async def test_deleting_hides_the_values_and_restoring_shows_them_again(admin: Client) -> None:
    field = expect(await admin.post(AT, declaration("money")))
    name = f"x_{field['name']}"
    made = await customer(admin, **{name: "5.00"})
    told = expect(await admin.post(f"{AT}/{field['id']}/rehearse", {"removed": True}))
    assert (told["with_value"], told["hidden"]) == (1, 1)
    expect(await admin.delete(f"{AT}/{field['id']}"))
    assert name not in expect(await admin.get(f"{CUSTOMERS}/{made['id']}"))
    assert (await admin.post(CUSTOMERS, {"name": "x", name: "1.00"})).fields == {name}
    again = declaration("integer", filterable=False) | {"name": field["name"]}
    expect(await admin.post(AT, again), 40901)
    expect(await admin.post(f"{AT}/{field['id']}/restore"))
    assert expect(await admin.get(f"{CUSTOMERS}/{made['id']}"))[name] == "5.00"
    expect(await admin.delete(f"{AT}/{field['id']}"))


async def test_a_rehearsal_says_what_a_field_would_do_and_writes_nothing(admin: Client, tradewind: Running) -> None:
    before = expect(await admin.get(AT))["total"]
    body = declaration("integer", required=True, filterable=False) | {"collection": "crm_contacts"}
    count = expect(await admin.get("/api/v1/crm/contacts"))["total"]
    told = expect(await admin.post(f"{AT}/rehearse", body | {"filterable": True}))
    assert told == {"records": count, "with_value": 0, "incomplete": count, "hidden": 0, "index": "created"}
    assert expect(await admin.get(AT))["total"] == before


@pytest.mark.parametrize(
    ("values", "at_fault"),
    [
        ({"collection": "crm_unknown"}, "collection"),
        ({"collection": "system_configs"}, "collection"),
        ({"name": "Wrong"}, "name"),
        ({"name": "day_from"}, "name"),
        ({"name": "password"}, "name"),
        ({"label": "客户名称"}, "label"),
        ({"type": "choice"}, "dictionary"),
        ({"type": "choice", "dictionary": "unknown"}, "dictionary"),
        ({"type": "reference", "target": "unknown"}, "target"),
        ({"target": "crm_customers"}, "target"),
        ({"type": "long_text", "filterable": True}, "filterable"),
    ],
)
async def test_what_cannot_be_a_field_is_refused_by_name(values: Values, at_fault: str, admin: Client) -> None:
    body = declaration("boolean") | values
    assert (await admin.post(AT, body)).fields == (await admin.post(f"{AT}/rehearse", body)).fields == {at_fault}


async def test_a_kind_of_record_has_at_most_three_filterable_fields(admin: Client, declared: dict[str, str]) -> None:
    expect(await admin.post(AT, declaration("integer")), 40901)
