"""Loads the Northwind company into a running service: its people, customers, sales, goods, orders and deliveries.

Every step looks first and writes only what is missing or different, so a second run changes nothing.
It uses the public API only, as any client could.
"""

import argparse
import getpass
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from tests.experiments.northwind_load.books import Books, account_of, owed
from tests.experiments.northwind_load.client import LOGIN_REFUSED, Client, Passwords, Record, ServiceError, new_password
from tests.experiments.northwind_load.data import Customer, Employee, Northwind, read, until
from tests.experiments.northwind_load.files import DataError, Note
from tests.experiments.northwind_load.roles import ROLES, flatten, grants
from tests.experiments.northwind_load.sales import CONTRACTS, Sales, number_of, totals_of
from tests.experiments.northwind_load.settling import Tally, settle
from tests.experiments.northwind_load.staff import employ
from tests.experiments.northwind_load.trade import Trade

ROOT = "northwind"
COMPANY = "Northwind Traders"
CUSTOMERS = "/crm/customers"
PROGRESS_SECONDS = 2


def slug(region: str) -> str:
    """Return the stable code of a region's department, such as `northwind-eastern`."""
    return f"{ROOT}-{re.sub('[^a-z0-9]+', '-', region.lower())}"


class Import:
    """One run: the administrator's client, the files, and what has been done so far.

    With `books`, orders are owed as such, with invoices and payments; otherwise a contract is made for each order.
    """

    def __init__(self, admin: Client, northwind: Northwind, passwords: Passwords, books: bool) -> None:
        self.admin, self.northwind, self.passwords, self.books = admin, northwind, passwords, books
        self.tally = Tally()
        self._told = time.monotonic()

    def run(self) -> None:
        """Do every step in the order of their dependencies, and print what each person sees."""
        departments = self.departments()
        users = self.users(departments, self.roles())
        self.tally.add(employ(self.admin, self.northwind.employees, departments, users))
        clients = {person.number: self.sign_in(person, users) for person in self.northwind.employees}
        customers = self.customers(clients)
        trade = Trade(self.admin, self.northwind, self.progress)
        if self.books:
            self.tally.add(trade.run(customers, clients, owed))
            self.tally.add(Books(self.admin, customers, self.northwind).run())
        else:
            contracts = self.sales(clients, customers)
            self.tally.add(
                trade.run(customers, clients, lambda order: {"contract_id": contracts.get(number_of(order))})
            )
        for person in self.northwind.employees:
            print(self.sight(person, clients[person.number]))

    def departments(self) -> dict[str | None, int]:
        """Create the company and a department for each region; return their ids by region, the company's under None."""
        path = "/system/departments"
        there = {record["code"]: record for record in flatten(self.admin.call("GET", path))}
        root = settle(self.admin, path, there.get(ROOT), {"code": ROOT, "name": COMPANY}, self.tally)
        ids: dict[str | None, int] = {None: root["id"]}
        for region in self.northwind.regions:
            wanted = {"code": slug(region), "name": region, "parent_id": root["id"]}
            ids[region] = settle(self.admin, path, there.get(slug(region)), wanted, self.tally)["id"]
        return ids

    def roles(self) -> dict[str, int]:
        """Create the three roles with their scopes and grants; return their ids by their names in the data."""
        path = "/system/roles"
        there = {record["code"]: record for record in self.admin.every(path)}
        menus = list(flatten(self.admin.call("GET", "/system/menus/all")))
        ids = {}
        for key, role in ROLES.items():
            code = f"{ROOT}-{key}"
            wanted = {"code": code, "name": f"Northwind {role.title}", "data_scope": role.scope}
            record = settle(self.admin, path, there.get(code), wanted, self.tally)
            held, needed = set(record["menu_ids"]), grants(role.entries, menus)
            if not needed <= held:
                self.admin.call("PUT", f"{path}/{record['id']}/menus", {"menu_ids": sorted(needed | held)})
                self.tally.changed += code in there
            ids[key] = record["id"]
        return ids

    def users(self, departments: dict[str | None, int], roles: dict[str, int]) -> dict[str, int]:
        """Create a user for each employee, and return their ids by user name."""
        path = "/system/users"
        there = {record["username"]: record for record in self.admin.every(path)}
        ids = {}
        for person in self.northwind.employees:
            wanted = {
                "username": person.username,
                "real_name": person.name,
                "department_id": departments[person.region],
                "role_ids": [roles[person.role]],
            }
            password = new_password()
            first = {"password": password, "must_change_password": False}
            record = settle(self.admin, path, there.get(person.username), wanted, self.tally, first)
            if person.username not in there:
                self.passwords.keep(person.username, password)
            ids[person.username] = record["id"]
        return ids

    def sign_in(self, person: Employee, users: dict[str, int]) -> Client:
        """Return a client that is logged in as this employee, after resetting the password if it is not known."""
        client = Client(self.admin.base)
        password = self.passwords.get(person.username)
        try:
            if password is not None:
                client.login(person.username, password)
                return client
        except ServiceError as error:
            if error.code != LOGIN_REFUSED:
                raise
        password, client = new_password(), Client(self.admin.base)
        given = self.admin.call("POST", f"/system/users/{users[person.username]}/reset-password")["password"]
        client.login(person.username, given)
        client.call("PUT", "/auth/password", {"old_password": given, "new_password": password})
        self.passwords.keep(person.username, password)
        self.tally.reset += 1
        client.login(person.username, password)
        return client

    def customers(self, clients: dict[int, Client]) -> dict[str, str]:
        """Create or correct each customer as the employee to whom it belongs; a refusal is noted as a problem.

        Returns the ids of the customers that are as in the files, by code.
        """
        there = {record["code"]: record for record in self.admin.every(CUSTOMERS)}
        ids = {}
        for done, customer in enumerate(self.northwind.customers):
            self.progress(f"{done} of {len(self.northwind.customers)} customers")
            client, record = clients[customer.employee], there.get(customer.code)
            if record is not None and record["creator_id"] != client.user["userId"]:
                self.tally.problems.append(f"customer {customer.code} is there, created by somebody else")
                continue
            try:
                ids[customer.code] = settle(client, CUSTOMERS, record, fields(customer), self.tally)["id"]
            except ServiceError as error:
                self.tally.problems.append(f"customer {customer.code}: {error}")
        return ids

    def chief(self, clients: dict[int, Client]) -> Client:
        """Return the client of the vice president, who sees everything; there is one, or reading the files fails."""
        return next(clients[person.number] for person in self.northwind.employees if person.role == "vice-president")

    def sales(self, clients: dict[int, Client], customer_ids: dict[str, str]) -> dict[str, str]:
        """Create contacts, contracts and payments; totals that differ from the files' are noted as a problem.

        Returns the ids of all contracts by number.
        """
        account = account_of(self.admin, self.tally)
        sales = Sales(clients, self.chief(clients), self.admin, customer_ids, account)
        customers, orders = self.northwind.customers, self.northwind.orders
        self.tally.add(sales.contacts(customers, self.progress))
        self.tally.add(sales.contracts(orders, customers, self.progress))
        found, said = sales.totals(orders), totals_of(orders)
        print(found)
        if found != said:
            self.tally.problems.append(f"the files say {said}")
        return {record["number"]: record["id"] for record in self.admin.every(CONTRACTS)}

    def sight(self, person: Employee, client: Client) -> str:
        """Return a line that says how many of these customers a person sees, and why."""
        ours = {customer.code for customer in self.northwind.customers}
        seen = [record["code"] in ours for record in client.every(CUSTOMERS)]
        others = f" (and {len(seen) - sum(seen)} that are not Northwind's)" if not all(seen) else ""
        role = ROLES[person.role]
        why = role.why.format(department=person.region or COMPANY)
        count = f"{person.username:17} sees {sum(seen):3} customers{others}"
        return f"{count}: {role.title}, scope {role.scope}, {why}"

    def progress(self, text: str) -> None:
        """Print the progress, at most every two seconds."""
        if time.monotonic() - self._told >= PROGRESS_SECONDS:
            self._told = time.monotonic()
            print(text, file=sys.stderr)


def fields(customer: Customer) -> Record:
    """Return a customer in the form that the service accepts."""
    return {
        "code": customer.code,
        "name": customer.name,
        "phone": customer.phone,
        "address": customer.address,
        "tags": list(customer.tags),
        "remark": customer.remark,
    }


def summary(notes: Sequence[Note]) -> Iterator[str]:
    """Yield how many lines were repaired, by file; then each line that could not be, and each choice, one by one."""
    mended = Counter((note.file, note.text) for note in notes if note.kind == "mended")
    for (file, text), count in mended.items():
        yield f"mended: {file}, {count} lines: {text}"
    for note in notes:
        if note.kind != "mended":
            yield f"{note.kind}: {note.file} line {note.line}: {note.text}"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.experiments.northwind_load", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the CSV files are")
    parser.add_argument("--base", default="http://127.0.0.1:8000", help="address of the service")
    parser.add_argument(
        "--until",
        type=date.fromisoformat,
        metavar="DAY",
        help="move all days so that the last order was made on this day, such as 2026-11-20 (default: as in the files)",
    )
    parser.add_argument(
        "--books",
        action="store_true",
        help="without contracts: deliveries are owed with their freight, invoiced, and paid by the customers' habits",
    )
    parser.add_argument("--username", default="admin", help="an administrator")
    parser.add_argument(
        "--passwords",
        type=Path,
        default=Path(os.environ.get("TRADEWIND_DATA_DIR", ".data"), "northwind-passwords.json"),
        help="where the employees' passwords are kept between runs (default: %(default)s)",
    )
    parser.epilog = "The administrator's password: TRADEWIND_ADMIN_PASSWORD, else it is asked for."
    return parser.parse_args(argv)


def administrator_password(username: str) -> str:
    """Return the password from the environment, else from the terminal. Raises `DataError` if there is neither."""
    password = os.environ.get("TRADEWIND_ADMIN_PASSWORD")
    if password:
        return password
    if not sys.stdin.isatty():
        raise DataError(f"set TRADEWIND_ADMIN_PASSWORD to the password of {username}")
    return getpass.getpass(f"Password of {username}: ")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0 if all is as in the files, 1 if the service refused something, 2 if nothing ran."""
    given = arguments(argv)
    try:
        northwind = read(given.folder)
        northwind = until(northwind, given.until) if given.until else northwind
        password = administrator_password(given.username)
        print(*summary(northwind.notes), sep="\n")
        admin = Client(given.base)
        admin.login(given.username, password)
        work = Import(admin, northwind, Passwords(given.passwords, admin.base), given.books)
        work.run()
    except DataError as error:
        print(f"northwind: {error}", file=sys.stderr)
        return 2
    except ServiceError as error:
        print(f"northwind: {error}", file=sys.stderr)
        return 1
    for problem in work.tally.problems:
        print(f"northwind: {problem}", file=sys.stderr)
    if work.tally.reset:
        print(f"{work.tally.reset} passwords were not known and have been reset")
    print(f"{work.tally.created} created, {work.tally.changed} changed")
    return 1 if work.tally.problems else 0
