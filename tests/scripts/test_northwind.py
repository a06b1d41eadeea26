"""`scripts/northwind` as its users run it, against a service; what it must give is worked out here anew.

The service gets a tenth of the orders, which is much quicker; `test_northwind_data` sums up all of them.
"""

import asyncio
import csv
import json
import os
import re
import socket
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from tornado.httpclient import AsyncHTTPClient

from plugins.runtime import Running
from plugins.testing import PASSWORD
from tests.scripts.northwind_folder import FOLDER, ROOT, needs_folder

run_takes_up_to_three_minutes = pytest.mark.gen_test(timeout=180)


BUSINESS = [f"/api/v1/crm/{name}" for name in ("customers", "contacts", "contracts", "payments")]


class Service(NamedTuple):
    """A running service and the password of its administrator."""

    base: str
    admin_password: str


class Run(NamedTuple):
    """How a run of the command ended and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture
def service(tradewind: Running) -> Service:
    return Service(tradewind.url, PASSWORD)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files with every tenth of their orders."""
    made = tmp_path_factory.mktemp("northwind-files")
    for file in FOLDER.glob("*.csv"):
        lines = file.read_text("utf-8").splitlines(keepends=True)
        if file.stem in ("orders", "order-details"):
            lines = lines[:1] + [line for line in lines[1:] if line.split(",")[0].endswith("0")]
        (made / file.name).write_text("".join(lines), "utf-8")
    return made


@pytest.fixture(scope="module")
def passwords(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("northwind") / "passwords.json"


async def northwind(*arguments: object, admin_password: str = "") -> Run:
    """Run the command without ever blocking the loop: the service may live on it."""
    process = await asyncio.create_subprocess_exec(
        ROOT / "scripts" / "northwind",
        *map(str, arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TRADEWIND_ADMIN_PASSWORD": admin_password, "PYTHONUTF8": "1"},
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return Run(process.returncode, out.decode(), err.decode())


async def imported(service: Service, folder: Path, passwords: Path) -> Run:
    return await northwind(
        folder, "--base", service.base, "--passwords", passwords, admin_password=service.admin_password
    )


async def call(service: Service, method: str, path: str, body: object = None, token: str = "") -> Any:
    """The `data` of one request, by an HTTP client of its own."""
    answer = await AsyncHTTPClient().fetch(
        service.base + path,
        method=method,
        body=None if body is None else json.dumps(body),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    return json.loads(answer.body)["data"]


async def log_in(service: Service, username: str, password: str) -> str:
    body = {"username": username, "password": password}
    token: str = (await call(service, "POST", "/api/v1/auth/login", body))["accessToken"]
    return token


async def every(service: Service, path: str, token: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    query = {"page_size": "200"}
    while query:
        page = await call(service, "GET", f"{path}?{urlencode(query)}", token=token)
        records += page["items"]
        query = {"page_size": "200", "cursor": page["next_cursor"]} if page["next_cursor"] else {}
    return records


def rows(folder: Path, name: str) -> Iterator[list[str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        yield from list(csv.reader(file))[1:]


def expected(folder: Path) -> dict[str, set[str]]:
    """Which customers each of the nine sees, from the CSV files alone."""
    taken = Counter((row[1], int(row[2])) for row in rows(folder, "orders"))
    staff = {int(row[0]): (f"{row[2]}.{row[1]}".lower(), row[3]) for row in rows(folder, "employees")}
    head = next(number for number, (_, title) in staff.items() if title == "Vice President, Sales")
    owner: dict[str, int] = {}
    for code in (row[0] for row in rows(folder, "customers")):
        best = max(sorted(staff), key=lambda number: taken[code, number])
        owner[code] = best if taken[code, best] else head
    region = {row[0]: row[2] for row in rows(folder, "territories")}
    home = {int(row[0]): region[row[1]] for row in rows(folder, "employee-territories")}
    sees = {}
    for number, (username, title) in staff.items():
        if number == head:
            sees[username] = set(owner)
        elif title == "Sales Manager":
            sees[username] = {code for code, by in owner.items() if home[by] == home[number]}
        else:
            sees[username] = {code for code, by in owner.items() if by == number}
    return sees


def costs(folder: Path) -> dict[str, Decimal]:
    """What each order costs: each line to the cent, half a cent up, by the CSV files alone."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for order, _, unit_price, quantity, discount in rows(folder, "order-details"):
        exact = Decimal(unit_price) * Decimal(quantity) * (1 - Decimal(discount))
        found[order] += exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
    return dict(found)


async def versions(service: Service) -> dict[str, dict[Any, int]]:
    """The version of everything that the command may write; it rises with every write."""
    token = await log_in(service, "admin", service.admin_password)
    found = {
        path: {record["id"]: record["version"] for record in await every(service, path, token)}
        for path in ("/api/v1/system/roles", "/api/v1/system/users", *BUSINESS)
    }
    nodes = await call(service, "GET", "/api/v1/system/departments", token=token)
    departments = found["departments"] = {}
    while nodes:
        node = nodes.pop()
        departments[node["id"]] = node["version"]
        nodes += node["children"]
    return found


@needs_folder
@run_takes_up_to_three_minutes
async def test_each_of_the_nine_sees_what_the_files_say(service: Service, folder: Path, passwords: Path) -> None:
    run = await imported(service, folder, passwords)
    assert run.code == 0, run.err
    seen = {}
    for username, password in json.loads(passwords.read_text())[service.base].items():
        token = await log_in(service, username, password)
        seen[username] = {record["code"] for record in await every(service, "/api/v1/crm/customers", token)}
    company = {row[0] for row in rows(folder, "customers")}
    assert {username: codes & company for username, codes in seen.items()} == expected(folder)


@needs_folder
@run_takes_up_to_three_minutes
async def test_customers_contracts_and_payments_are_those_of_the_files(
    service: Service, folder: Path, passwords: Path
) -> None:
    run = await imported(service, folder, passwords)
    cost, shipped = costs(folder), {row[0] for row in rows(folder, "orders") if row[5] != "NULL"}
    received = sum(cost[order] for order in shipped)
    assert f"{len(cost)} contracts, {sum(cost.values())} in all, {received} received" in run.out.splitlines()
    token = await log_in(service, "admin", service.admin_password)
    customers, contacts, contracts, payments = [await every(service, path, token) for path in BUSINESS]
    ours = {record["id"] for record in customers if "Northwind" in record["tags"]}
    names = [record["name"] for record in contacts if record["customer_id"] in ours]
    assert (len(ours), sorted(names)) == (91, sorted(row[2].strip() for row in rows(folder, "customers")))
    amounts = {record["number"]: Decimal(record["amount"]) for record in contracts if record["customer_id"] in ours}
    assert amounts == {f"NW-{order}": amount for order, amount in cost.items()}
    assert {record["status"] for record in contracts if record["customer_id"] in ours} == {"in_force"}
    paid = [Decimal(record["amount"]) for record in payments if record["customer_id"] in ours]
    assert (len(paid), sum(paid)) == (len(shipped), received)


@needs_folder
@run_takes_up_to_three_minutes
async def test_nobody_but_the_vice_president_sees_customers_of_others(
    service: Service, folder: Path, passwords: Path
) -> None:
    assert (await imported(service, folder, passwords)).code == 0
    totals = {}
    for username, password in json.loads(passwords.read_text())[service.base].items():
        token = await log_in(service, username, password)
        totals[username] = (await call(service, "GET", "/api/v1/crm/customers", token=token))["total"]
    counts = {username: len(codes) for username, codes in expected(folder).items()}
    assert totals.pop("andrew.fuller") >= counts.pop("andrew.fuller")
    assert totals == counts


@needs_folder
@run_takes_up_to_three_minutes
async def test_it_prints_the_nine_counts_and_why(service: Service, folder: Path, passwords: Path) -> None:
    run = await imported(service, folder, passwords)
    printed = re.findall(r"^(\S+) +sees +(\d+) customers.*: .*, scope (\w+), ", run.out, re.MULTILINE)
    assert {username: int(count) for username, count, _ in printed} == {
        username: len(codes) for username, codes in expected(folder).items()
    }
    assert Counter(scope for _, _, scope in printed) == {"all": 1, "department_and_below": 1, "self": 7}


@needs_folder
@run_takes_up_to_three_minutes
async def test_a_second_run_changes_nothing(service: Service, folder: Path, passwords: Path) -> None:
    assert (await imported(service, folder, passwords)).code == 0
    before = await versions(service)
    run = await imported(service, folder, passwords)
    assert run.out.splitlines()[-1] == "0 created, 0 changed"
    assert await versions(service) == before


@needs_folder
@run_takes_up_to_three_minutes
async def test_a_customer_that_was_altered_is_put_right(service: Service, folder: Path, passwords: Path) -> None:
    assert (await imported(service, folder, passwords)).code == 0
    token = await log_in(service, "admin", service.admin_password)
    customers = await every(service, "/api/v1/crm/customers", token)
    folko = next(record for record in customers if record["code"] == "FOLKO")
    path = f"/api/v1/crm/customers/{folko['id']}"
    await call(service, "PATCH", path, {"name": "Folk och fa", "version": folko["version"]}, token)
    run = await imported(service, folder, passwords)
    assert run.out.splitlines()[-1] == "0 created, 1 changed"
    assert (await call(service, "GET", path, token=token))["name"] == "Folk och fä HB"


@needs_folder
@run_takes_up_to_three_minutes
async def test_passwords_that_are_not_known_any_more_are_reset(service: Service, folder: Path, tmp_path: Path) -> None:
    await imported(service, folder, tmp_path / "first.json")
    run = await imported(service, folder, tmp_path / "second.json")
    assert run.code == 0, run.err
    assert run.out.splitlines()[-2:] == [
        "9 passwords were not known and have been reset",
        "0 created, 0 changed",
    ]


@needs_folder
@run_takes_up_to_three_minutes
async def test_the_passwords_are_for_their_owner_alone(service: Service, folder: Path, passwords: Path) -> None:
    assert (await imported(service, folder, passwords)).code == 0
    assert passwords.stat().st_mode & 0o077 == 0


@needs_folder
@run_takes_up_to_three_minutes
async def test_a_refused_log_in_is_one_line(service: Service) -> None:
    run = await northwind(FOLDER, "--base", service.base, admin_password="wrong")
    assert run.code == 1
    assert run.err.startswith("northwind: admin cannot log in: ")
    assert run.err.count("\n") == 1


@needs_folder
@run_takes_up_to_three_minutes
async def test_a_service_that_is_away_is_one_line() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: nobody can answer there
        base = f"http://127.0.0.1:{unused.getsockname()[1]}"
        run = await northwind(FOLDER, "--base", base, admin_password="any")
    assert run.code == 1
    assert run.err.startswith(f"northwind: {base} is out of reach: ")
    assert run.err.count("\n") == 1


@run_takes_up_to_three_minutes
async def test_a_folder_without_the_files_is_one_line(tmp_path: Path) -> None:
    assert await northwind(tmp_path) == Run(2, "", f"northwind: {tmp_path / 'regions.csv'} is missing\n")


@needs_folder
@run_takes_up_to_three_minutes
async def test_no_password_at_all_is_one_line() -> None:
    run = await northwind(FOLDER)
    assert (run.code, run.err) == (2, "northwind: set TRADEWIND_ADMIN_PASSWORD to the password of admin\n")
