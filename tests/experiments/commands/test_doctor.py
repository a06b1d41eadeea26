"""`scripts/doctor`: what it finds on an installation with something wrong, and its silence on one without."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from config.database import IndexSpec
from config.settings import Settings
from handlers.data.database import Database, utc_now
from plugins.auth.settings import AuthSettings
from plugins.boot.runtime import Running
from plugins.commands.diagnosis.access import check_access
from plugins.commands.diagnosis.dangling import check_references
from plugins.commands.diagnosis.database import check_database
from plugins.commands.diagnosis.findings import Finding, as_json, as_table, exit_code
from plugins.commands.diagnosis.settings import check_settings
from plugins.crm.records import CONTACTS, CUSTOMERS
from plugins.rbac.declared_menus import synchronise
from plugins.rbac.passwords import RbacSettings
from plugins.rbac.policy import Policy
from plugins.rbac.records import MENUS, ROLES, USERS
from plugins.testing import Client, People, expect, unique
from tests.support.commands import run_command, start_command
from tests.support.demo import serving_demo

SECRET = "correct-horse-battery-staple-0123456789"
PEOPLE = ("disabled-super-administrator", "no-super-administrator", "password-never-changed")
slow = pytest.mark.gen_test(timeout=60)


async def of_access(running: Running, users: list[dict[str, Any]] | None = None) -> set[tuple[str, str]]:
    """Check and subject of what is found about routes, roles and people."""
    database = running.service.database
    rules = await Policy(database).rules()
    people = users if users is not None else await database.store(USERS).find()
    found = check_access(running.catalogue, rules, people, utc_now())
    return {(one.check, one.subject) for one in found}


async def of_database(database: Database) -> set[tuple[str, str]]:
    return {(one.check, one.subject) async for one in check_database(database)}


def of_settings(**given: Any) -> dict[str, str]:
    """Setting → level of what is found."""
    kinds: list[Any] = [RbacSettings, AuthSettings]
    own = {
        kind: kind(_env_file=None, **{name: given.pop(name) for name in list(given) if name in kind.model_fields})
        for kind in kinds
    }
    chosen = {"jwt_secret": SECRET, "mongodb_uri": "mongodb://u:p@db.example/", "cors_origins": (), **given}
    environment: Any = Settings
    found = check_settings(environment(_env_file=None, **chosen), own)
    return {one.subject.removeprefix("TRADEWIND_").lower(): one.level for one in found}


async def run(*arguments: str, **settings: str) -> tuple[int, str]:
    """The command with these settings alone: exit code and output."""
    done = await run_command("plugins.commands.doctor", *arguments, **settings)
    return done.code, done.output + done.errors


@pytest.fixture(scope="module")
def installation(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A new demo; what a test breaks it mends."""
    block = serving_demo(mongodb_uri, tmp_path_factory.mktemp("doctor"), mongodb_database="test_doctor")
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@slow
async def test_a_new_installation_has_nothing_wrong(installation: Running) -> None:
    assert await of_database(installation.service.database) == set()
    assert {check for check, _ in await of_access(installation)} <= {"code-nobody-holds"}


@slow
async def test_the_command_is_0_on_a_new_demo_and_prints_json(mongodb_uri: str, installation: Running) -> None:
    database = installation.service.settings.mongodb_database
    code, out = await run("--json", "--demo", mongodb_uri=mongodb_uri, mongodb_database=database)
    report = json.loads(out)
    assert (code, report["errors"], report["warnings"]) == (0, 0, 0)
    assert {one["level"] for one in report["findings"]} == {"note"}


@slow
async def test_the_command_is_1_and_says_why_when_something_is_wrong(mongodb_uri: str, installation: Running) -> None:
    database = installation.service.settings.mongodb_database
    code, out = await run(
        "--demo",
        mongodb_uri=mongodb_uri,
        mongodb_database=database,
        rate_limits="off",
        wecom_first_scan="create",
        wecom_default_role="staff,nobody",
    )
    assert code == 1
    assert "warning  setting" in out
    assert "no enabled role has the code nobody" in out
    assert out.splitlines()[-1].startswith("1 error, 1 warning, ")


@pytest.mark.gen_test(timeout=30)
async def test_settings_that_the_server_refuses_are_a_finding(tmp_path: Path) -> None:
    done = await start_command("plugins.commands.doctor", data_dir=str(tmp_path))
    assert done.code == 1
    assert "TRADEWIND_JWT_SECRET is not set" in done.output


@pytest.mark.gen_test(timeout=30)
async def test_a_misspelt_setting_is_a_finding_with_the_nearest_name(tmp_path: Path) -> None:
    _, out = await run("--demo", data_dir=str(tmp_path / "none"), trusted_proxy="10.0.0.1")
    line = next(line for line in out.splitlines() if "TRADEWIND_TRUSTED_PROXY " in line)
    assert line.startswith("warning  setting")
    assert line.endswith("is no setting and does nothing; did you mean TRADEWIND_TRUSTED_PROXIES?")


@pytest.mark.gen_test(timeout=30)
async def test_a_folder_without_a_database_is_not_given_one(tmp_path: Path) -> None:
    code, out = await run("--demo", data_dir=str(tmp_path / "none"))
    assert code == 1
    assert "start the server once" in out
    assert not (tmp_path / "none").exists()


@pytest.mark.gen_test(timeout=30)
async def test_a_database_that_does_not_respond_is_a_finding() -> None:
    code, out = await run("--demo", mongodb_uri="mongodb://u:p@127.0.0.1:9/", mongodb_timeout_ms="300")
    assert code == 1
    assert "MongoDB does not respond" in out
    assert "u:p" not in out


@pytest.mark.gen_test(timeout=30)
async def test_a_database_that_no_server_prepared_is_a_finding(mongodb_uri: str) -> None:
    code, out = await run("--demo", mongodb_uri=mongodb_uri, mongodb_database="test_never_prepared")
    assert code == 1
    assert "there is no database yet" in out


@slow
async def test_missing_and_left_over_indexes_and_foreign_collections_are_found(installation: Running) -> None:
    driver = installation.service.database.driver
    await driver.synchronise_indexes(ROLES.name, [IndexSpec("left_over", (("name", 1),))])
    await driver.insert("acme_agreements", [{"_id": 1}])
    found = await of_database(installation.service.database)
    await installation.service.database.prepare()
    await driver.command({"drop": "acme_agreements"})
    assert ("missing-index", f"{ROLES.name}.code_1_unique") in found
    assert ("extra-index", f"{ROLES.name}.left_over") in found
    assert ("unknown-collection", "acme_agreements") in found


@slow
async def test_a_reference_to_what_was_deleted_while_its_plugin_was_disabled_is_found(installation: Running) -> None:
    database = installation.service.database
    before = [one async for one in check_references(database)]
    customer, contact = (await database.store(CUSTOMERS).create({"name": unique("held")}))["id"], unique("contact")
    await database.store(CONTACTS).create({"name": contact, "customer_id": customer})
    without = Database(database.driver, [CUSTOMERS])
    await without.store(CUSTOMERS).delete(customer)
    (found,) = [one async for one in check_references(database)]
    await database.driver.delete_many(CONTACTS.name, {"name": contact})
    assert before == []
    assert (found.check, found.subject) == ("dangling-reference", f"{CONTACTS.name}.customer_id")
    assert str(customer) in found.advice


CODE = (("code", 1),)


@pytest.mark.parametrize(
    ("made", "part"),
    [
        (IndexSpec("code_1_unique", (("name", 1),), unique=True, partial={"deleted": False}), "keys"),
        (IndexSpec("code_1_unique", CODE, partial={"deleted": False}), "uniqueness"),
        (IndexSpec("code_1_unique", CODE, unique=True), "covered documents"),
        (IndexSpec("code_1_unique", CODE, True, {"deleted": False}, 60), "time to live"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.gen_test(timeout=30)
async def test_an_index_of_the_declared_name_that_is_made_differently_is_found(
    installation: Running, made: IndexSpec, part: str
) -> None:
    database = installation.service.database
    await database.driver.synchronise_indexes(ROLES.name, [])
    await database.driver.synchronise_indexes(ROLES.name, [made])
    (found,) = [one async for one in check_database(database) if one.check == "different-index"]
    await database.driver.synchronise_indexes(ROLES.name, [])
    await database.prepare()
    assert (found.subject, found.level) == (f"{ROLES.name}.code_1_unique", "error")
    assert f"({part})" in found.advice


@slow
async def test_routes_entries_and_roles_that_lead_nowhere_are_found(installation: Running) -> None:
    people = People(await Client(installation.url).log_in("admin"))
    menus = installation.service.database.store(MENUS)
    await menus.update_many({"code": "crm:customer:read"}, {"$set": {"apis": []}})
    button = await menus.create(
        {
            "type": "button",
            "code": "old",
            "title": "旧",
            "apis": [{"method": "GET", "path": "/api/v1/gone"}],
        }
    )
    directory = await menus.create({"type": "directory", "code": unique("empty"), "title": "空"})
    idle, blind = await people.role(), await people.role(["crm:customer:list"], "custom")
    lost = await people.role()
    expect(await people.admin.put(f"/api/v1/system/roles/{lost}/menus", {"menu_ids": [directory["id"]]}))
    roles = {role["id"]: role["code"] for role in await installation.service.database.store(ROLES).find()}
    found = await of_access(installation)
    for id in (idle, blind, lost):
        expect(await people.admin.delete(f"/api/v1/system/roles/{id}"))
    for menu in (button, directory):
        await menus.delete(menu["id"])
    await synchronise(installation.service.database, installation.catalogue)
    assert ("route-without-entry", "GET /api/v1/crm/customers/{id}") in found
    assert ("entry-without-route", "GET /api/v1/gone") in found
    assert {subject for check, subject in found if check == "role-grants-nothing"} == {roles[idle], roles[lost]}
    assert {subject for check, subject in found if check == "role-sees-nothing"} == {roles[blind]}


@pytest.mark.gen_test(timeout=30)
async def test_a_code_that_somebody_holds_is_no_finding(tradewind: Running, people: People) -> None:
    codes = [code for code in tradewind.catalogue.permissions if code.startswith("system:menu:")]
    await people.account([await people.role(codes)])
    assert ("code-nobody-holds", "system:menu") not in await of_access(tradewind)


def person(**fields: Any) -> dict[str, Any]:
    """A user record."""
    plain = {
        "username": unique("user"),
        "status": "enabled",
        "is_super": False,
        "must_change_password": False,
        "role_ids": [],
        "updated_at": utc_now(),
    }
    return {**plain, **fields}


@pytest.mark.gen_test
async def test_unprotected_accounts_are_found(tradewind: Running) -> None:
    long_ago = utc_now() - timedelta(days=31)
    users = [
        person(username="root", is_super=True),
        person(username="former", is_super=True, status="disabled"),
        person(username="waiting", must_change_password=True, updated_at=long_ago),
        person(username="new", must_change_password=True),
        person(username="gone", must_change_password=True, updated_at=long_ago, status="disabled"),
    ]
    found = {one for one in await of_access(tradewind, users) if one[0] in PEOPLE}
    assert found == {("disabled-super-administrator", "former"), ("password-never-changed", "waiting")}


@pytest.mark.gen_test
async def test_people_without_an_enabled_role_are_counted(tradewind: Running, people: People) -> None:
    off, on = await people.role(status="disabled"), await people.role()
    users = [
        person(is_super=True),
        person(role_ids=[on]),
        person(status="disabled"),
        person(username="one"),
        person(username="two", role_ids=[off]),
    ]
    rules = await Policy(tradewind.service.database).rules()
    found = check_access(tradewind.catalogue, rules, users, utc_now())
    (finding,) = [one for one in found if one.check == "user-without-role"]
    assert finding.subject == "2 users"
    assert finding.advice.endswith(": one, two")


@pytest.mark.gen_test
async def test_the_lack_of_a_super_administrator_is_found(tradewind: Running) -> None:
    found = await of_access(tradewind, [person(is_super=True, status="disabled")])
    assert ("no-super-administrator", "users") in found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, {}),
        ({"demo": True, "host": "127.0.0.1"}, {}),
        ({"demo": True, "host": "0.0.0.0"}, {"demo": "error"}),
        ({"demo": True, "host": "shop.example"}, {"demo": "error"}),
        ({"rate_limits": "off"}, {"rate_limits": "warning"}),
        ({"metrics_clients": ("0.0.0.0/0",)}, {"metrics_clients": "warning"}),
        ({"trusted_proxies": ("::/0",)}, {"trusted_proxies": "error"}),
        ({"trusted_proxies": ("10.0.0.0/8",)}, {}),
        ({"cors_origins": ("*",)}, {"cors_origins": "warning"}),
        ({"cors_origins": ("https://office.example/",)}, {"cors_origins": "warning"}),
        ({"cors_origins": ("https://office.example", "http://[::1]:3000")}, {}),
        ({"cors_origins": ("-https://office.example",)}, {"cors_origins": "warning"}),
        ({"cors_origins": ("-tauri://localhost",)}, {"cors_origins": "note"}),
        ({"cors_origins": ("http://localhost:5173",)}, {"cors_origins": "note"}),
        ({"mongodb_uri": ""}, {"mongodb_uri": "warning"}),
        ({"mongodb_uri": "", "demo": True}, {}),
        ({"mongodb_uri": "mongodb://db.example/"}, {"mongodb_uri": "warning"}),
        ({"mongodb_uri": "mongodb://127.0.0.1:27017/"}, {}),
        ({"mongodb_uri": "mongodb://db.example/?tls=true&authMechanism=MONGODB-X509"}, {}),
        ({"trusted_proxies": ("unix",), "metrics_clients": ("unix",)}, {}),
        ({"bcrypt_cost": 9}, {"bcrypt_cost": "warning"}),
        ({"admin_password": "Correct-horse-7"}, {"admin_password": "note"}),
        ({"wecom_api_base": "http://wecom.example"}, {"wecom_api_base": "error"}),
        ({"wecom_api_base": "http://127.0.0.1:9000"}, {}),
        ({"wecom_login_base": "http://wecom.example"}, {"wecom_login_base": "warning"}),
        ({"wecom_first_scan": "create"}, {"wecom_default_role": "warning"}),
        ({"wecom_first_scan": "create", "wecom_default_role": "staff"}, {}),
        (
            {"wecom_corp_id": "ww1", "wecom_agent_id": "1", "wecom_secret": "s"},
            {"wecom_redirect_uri": "warning"},
        ),
        (
            {
                "wecom_corp_id": "ww1",
                "wecom_agent_id": "1",
                "wecom_secret": "s",
                "wecom_redirect_uri": "http://a.example/",
            },
            {"wecom_redirect_uri": "warning"},
        ),
    ],
)
def test_dangerous_settings_are_found_and_others_are_not(given: dict[str, Any], found: dict[str, str]) -> None:
    assert of_settings(**given) == found


WORSE = Finding("error", "missing-index", "a.b", "start the server")
LESS = Finding("note", "extra-index", "a.c", "leave it")


def test_the_worst_comes_first_in_columns() -> None:
    assert as_table([LESS, WORSE]).splitlines() == [
        "error  missing-index  a.b  start the server",
        "note   extra-index    a.c  leave it",
        "1 error, 0 warnings, 1 note",
    ]


def test_notes_alone_are_no_failure() -> None:
    assert (exit_code([LESS]), exit_code([LESS, WORSE]), exit_code([])) == (0, 1, 0)


def test_nothing_found_is_said_too() -> None:
    assert as_table([]) == "0 errors, 0 warnings, 0 notes"
    assert json.loads(as_json([])) == {"findings": [], "errors": 0, "warnings": 0, "notes": 0}
