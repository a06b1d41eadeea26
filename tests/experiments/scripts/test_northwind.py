"""`northwind_load` as its users run it, with the orders of nine months, against a service; what it must give is worked
out here anew.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from tornado.httpclient import AsyncHTTPClient
from tornado.ioloop import IOLoop

from plugins.testing import PASSWORD, serving
from tests.experiments.scripts.northwind_figures import TODAY, Files, by_month, money, months, ranked
from tests.experiments.scripts.northwind_folder import FOLDER, Run, copy_since, costs, needs_folder, northwind, rows

pytestmark = [needs_folder, pytest.mark.gen_test]
SINCE = "1997-08-01"  # what was open 250 days before the last order was made since then
BUSINESS = [f"/api/v1/crm/{name}" for name in ("customers", "contacts", "contracts", "payments")]


class Service(NamedTuple):
    """A running service, the password of its administrator, and the files that it is to hold."""

    base: str
    admin_password: str
    folder: Path


@pytest.fixture(scope="module")
def service(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that holds the Northwind company and nothing else."""
    folder = copy_since(SINCE, FOLDER, tmp_path_factory.mktemp("northwind") / "files")
    secret = "a-key-for-northwind-0123456789-abcd"
    block = serving(mongodb_uri, tmp_path_factory.mktemp("data"), demo=False, jwt_secret=secret)
    yield Service(io_loop.run_sync(block.__aenter__).url, PASSWORD, folder)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def passwords(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("northwind") / "passwords.json"


@pytest.fixture(scope="module")
def first(io_loop: IOLoop, service: Service, passwords: Path) -> Run:
    """The run that brings everything into the service: some 3,700 requests."""
    run: Run = io_loop.run_sync(lambda: imported(service, passwords))
    assert run.code == 0, run.err
    return run


async def imported(service: Service, passwords: Path) -> Run:
    return await northwind(
        service.folder,
        "--base",
        service.base,
        "--passwords",
        passwords,
        "--until",
        TODAY.isoformat(),
        admin_password=service.admin_password,
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


@pytest.mark.usefixtures("first")
async def test_each_of_the_nine_sees_what_the_files_say(service: Service, passwords: Path) -> None:
    seen = {}
    for username, password in json.loads(passwords.read_text())[service.base].items():
        token = await log_in(service, username, password)
        seen[username] = {record["code"] for record in await every(service, "/api/v1/crm/customers", token)}
    company = {row[0] for row in rows(service.folder, "customers")}
    assert {username: codes & company for username, codes in seen.items()} == expected(service.folder)


async def test_customers_contracts_and_payments_are_those_of_the_files(service: Service, first: Run) -> None:
    cost, shipped = costs(service.folder), {row[0] for row in rows(service.folder, "orders") if row[5] != "NULL"}
    received = sum(cost[order] for order in shipped)
    assert f"{len(cost)} contracts, {sum(cost.values())} in all, {received} received" in first.out.splitlines()
    token = await log_in(service, "admin", service.admin_password)
    customers, contacts, contracts, payments = [await every(service, path, token) for path in BUSINESS]
    ours = {record["id"] for record in customers if "Northwind" in record["tags"]}
    names = [record["name"] for record in contacts if record["customer_id"] in ours]
    assert (len(ours), sorted(names)) == (91, sorted(row[2].strip() for row in rows(service.folder, "customers")))
    amounts = {record["number"]: Decimal(record["amount"]) for record in contracts if record["customer_id"] in ours}
    assert amounts == {f"NW-{order}": amount for order, amount in cost.items()}
    assert {record["status"] for record in contracts if record["customer_id"] in ours} == {"in_force"}
    paid = [Decimal(record["amount"]) for record in payments if record["customer_id"] in ours]
    assert (len(paid), sum(paid)) == (len(shipped), received)


async def test_what_was_paid_is_on_the_bank_account(service: Service, files: Files) -> None:
    token = await log_in(service, "admin", service.admin_password)
    (account,) = await every(service, "/api/v1/finance/accounts", token)
    payments = await every(service, "/api/v1/finance/payments", token)
    received = sorted(f"{amount:.2f}" for _, _, amount in files.received())
    assert sorted(payment["amount"] for payment in payments) == received
    assert {payment["unallocated"] for payment in payments} == {"0.00"}
    assert account["balance"] == money(map(Decimal, received))


@pytest.mark.parametrize("days_ago", [0, 250])
async def test_customers_owe_what_is_signed_and_not_paid_on_a_day(
    days_ago: int, service: Service, files: Files
) -> None:
    on = (TODAY - timedelta(days=days_ago)).isoformat()
    token = await log_in(service, "admin", service.admin_password)
    ageing = await call(service, "GET", f"/api/v1/finance/ageing?kind=receivable&day={on}", token=token)
    codes = {one["id"]: one["code"] for one in await every(service, "/api/v1/crm/customers", token)}
    owed: dict[str, list[Decimal]] = defaultdict(list)
    for order, customer, *_ in rows(service.folder, "orders"):
        if files.ordered[order] <= on < files.shipped.get(order, "later"):
            owed[customer].append(files.cost[order])
    assert {codes[row["customer_id"]]: row["total"] for row in ageing["items"]} == {
        customer: money(amounts) for customer, amounts in owed.items()
    }
    assert len(owed) > 5


@pytest.mark.usefixtures("first")
async def test_nobody_but_the_vice_president_sees_customers_of_others(service: Service, passwords: Path) -> None:
    totals = {}
    for username, password in json.loads(passwords.read_text())[service.base].items():
        token = await log_in(service, username, password)
        totals[username] = (await call(service, "GET", "/api/v1/crm/customers", token=token))["total"]
    counts = {username: len(codes) for username, codes in expected(service.folder).items()}
    assert totals.pop("andrew.fuller") >= counts.pop("andrew.fuller")
    assert totals == counts


async def test_it_prints_the_nine_counts_and_why(service: Service, first: Run) -> None:
    printed = re.findall(r"^(\S+) +sees +(\d+) customers.*: .*, scope (\w+), ", first.out, re.MULTILINE)
    assert {username: int(count) for username, count, _ in printed} == {
        username: len(codes) for username, codes in expected(service.folder).items()
    }
    assert Counter(scope for _, _, scope in printed) == {"all": 1, "department_and_below": 1, "self": 7}


@pytest.mark.usefixtures("first")
async def test_a_second_run_changes_nothing(service: Service, passwords: Path) -> None:
    before = await versions(service)
    run = await imported(service, passwords)
    assert run.out.splitlines()[-1] == "0 created, 0 changed"
    assert await versions(service) == before


@pytest.mark.usefixtures("first")
async def test_a_customer_that_was_altered_is_put_right(service: Service, passwords: Path) -> None:
    token = await log_in(service, "admin", service.admin_password)
    customers = await every(service, "/api/v1/crm/customers", token)
    folko = next(record for record in customers if record["code"] == "FOLKO")
    path = f"/api/v1/crm/customers/{folko['id']}"
    await call(service, "PATCH", path, {"name": "Folk och fa", "version": folko["version"]}, token)
    run = await imported(service, passwords)
    assert run.out.splitlines()[-1] == "0 created, 1 changed"
    assert (await call(service, "GET", path, token=token))["name"] == "Folk och fä HB"


@pytest.mark.usefixtures("first")
async def test_passwords_that_are_not_known_any_more_are_reset(
    service: Service, passwords: Path, tmp_path: Path
) -> None:
    run = await imported(service, tmp_path / "others.json")
    (tmp_path / "others.json").replace(passwords)
    assert run.code == 0, run.err
    assert run.out.splitlines()[-2:] == [
        "9 passwords were not known and have been reset",
        "0 created, 0 changed",
    ]


@pytest.mark.usefixtures("first")
async def test_the_passwords_are_for_their_owner_alone(passwords: Path) -> None:
    assert passwords.stat().st_mode & 0o077 == 0


@pytest.fixture(scope="module")
def files(service: Service, first: Run) -> Files:
    """What the files say, once the service holds them."""
    return Files(service.folder)


async def shown(service: Service, path: str) -> Any:
    """A dashboard as the administrator sees it."""
    token = await log_in(service, "admin", service.admin_password)
    return await call(service, "GET", f"/api/dashboard/{path}", token=token)


async def test_the_dashboard_overview(service: Service, files: Files) -> None:
    assert await shown(service, "overview") == {
        "customers": 91,
        "opportunities": 0,
        "contract_amount": money(files.cost.values()),
        "received_amount": money(amount for _, _, amount in files.received()),
        "pending_approvals": 0,
    }


async def test_the_dashboard_sales_trend(service: Service, files: Files) -> None:
    by_day = defaultdict(list)
    for _, day, amount in files.received():
        by_day[day].append(amount)
    days = [(TODAY - timedelta(days=back)).isoformat() for back in reversed(range(366))]
    expected = [{"date": day, "amount": money(by_day[day]), "count": len(by_day[day])} for day in days]
    assert (await shown(service, "sales-trend?days=366"))["items"] == expected
    assert sum(item["count"] for item in expected) > 10


async def test_the_dashboard_finance_summary(service: Service, files: Files) -> None:
    summary = await shown(service, "finance-summary")
    received = by_month(files.received())
    income = money(amount for amounts in received.values() for amount in amounts)
    assert (summary["income"], summary["expense"], summary["profit"]) == (income, "0.00", income)
    assert {item["month"]: item["income"] for item in summary["items"] if item["income"] != "0.00"} == {
        month: money(amounts) for month, amounts in received.items()
    }


async def test_the_dashboard_contract_trend(service: Service, files: Files) -> None:
    signed = by_month(files.signed())
    expected = [{"month": one, "count": len(signed[one]), "amount": money(signed[one])} for one in months(36)]
    assert (await shown(service, "contract-trend?months=36"))["items"] == expected
    assert sum(item["count"] for item in expected) == len(files.cost)


async def test_the_dashboard_sales_ranking(service: Service, files: Files) -> None:
    for by, found in (("payments", files.received()), ("contracts", files.signed())):
        items = (await shown(service, f"sales-ranking?by={by}&limit=100"))["items"]
        assert [(item["name"], item["amount"], item["count"]) for item in items] == ranked(files, found)
        assert [item["rank"] for item in items] == list(range(1, len(items) + 1))


async def test_the_dashboard_sales_vs_purchase(service: Service, files: Files) -> None:
    sold = by_month(files.signed())
    on_order = money(int(row[7]) * Decimal(row[5]) for row in files.products)
    this_month = f"{TODAY:%Y-%m}"
    assert (await shown(service, "sales-vs-purchase?months=36"))["items"] == [
        {"month": one, "sales": money(sold[one]), "purchase": on_order if one == this_month else "0.00"}
        for one in months(36)
    ]


async def test_the_dashboard_stock_value_by_warehouse(service: Service, files: Files) -> None:
    (item,) = (await shown(service, "stock-value-by-warehouse"))["items"]
    left = [(int(row[6]), Decimal(row[5])) for row in files.products]
    assert Decimal(item["quantity"]) == sum(pieces for pieces, _ in left)
    assert item["value"] == money(pieces * price for pieces, price in left)


async def test_the_dashboard_employee_distribution(service: Service, files: Files) -> None:
    items = (await shown(service, "employee-distribution"))["items"]
    assert {item["name"]: item["value"] for item in items} == Counter(files.department.values())


async def test_the_dashboard_headcount_trend(service: Service, files: Files) -> None:
    def until(month: str) -> int:
        return sum(day[:7] <= month for day in files.hired.values())

    assert (await shown(service, "headcount-trend?months=36"))["items"] == [
        {
            "month": one,
            "headcount": until(one),
            "joined": sum(day[:7] == one for day in files.hired.values()),
            "left": 0,
        }
        for one in months(36)
    ]
    assert len(files.hired) == 9


async def test_what_the_files_do_not_tell_is_empty_or_zero(service: Service, files: Files) -> None:
    unspecified = [{"name": "未填写", "code": None, "value": 91}]
    assert await shown(service, "customer-distribution") == {"by_industry": unspecified, "by_level": unspecified}
    assert await shown(service, "lead-source-distribution") == {"items": []}
    funnel = (await shown(service, "opportunity-funnel"))["items"]
    assert {(item["count"], item["amount"]) for item in funnel} == {(0, "0.00")}
    attendance = await shown(service, "attendance-summary?date_from=2026-01-01&date_to=2026-01-02")
    none = {"present": 0, "late": 0, "missed_punch": 0}
    days = [{"date": f"2026-01-0{day}", **none} for day in (1, 2)]
    assert attendance == {**none, "items": days}
