"""Brings the Northwind company into a running service as departments, roles, users and customers.

Every step looks first and writes only what is missing or different, so a second run changes nothing.
What the service is asked for: CONTRACT sections 3, 4 and 7.
"""

import argparse
import getpass
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from scripts.northwind_client import LOGIN_REFUSED, Client, Passwords, Record, ServiceError, new_password
from scripts.northwind_data import Customer, DataError, Employee, Northwind, Note, read

ROOT = "northwind"
COMPANY = "Northwind Traders"
CUSTOMERS = "/crm/customers"
PROGRESS_SECONDS = 2


class Role(NamedTuple):
    """A role as it is sent, and what its scope lets a person of `{department}` see, in words."""

    title: str
    scope: str
    why: str


ROLES = {
    "vice-president": Role("vice president", "all", "every customer there is"),
    "manager": Role("manager", "department_and_below", "what {department} and its sub-departments created"),
    "representative": Role("representative", "self", "what they created themselves"),
}
# What every role may do: read, create and correct customers, and nothing else.
GRANTED = (
    ("GET", "/api/v1/crm/customers"),
    ("GET", "/api/v1/crm/customers/{}"),
    ("POST", "/api/v1/crm/customers"),
    ("PATCH", "/api/v1/crm/customers/{}"),
)


@dataclass
class Tally:
    """What a run did."""

    created: int = 0
    changed: int = 0
    reset: int = 0
    problems: list[str] = field(default_factory=list)


def slug(region: str) -> str:
    """The stable code of a region's department: `northwind-eastern`."""
    return f"{ROOT}-{re.sub('[^a-z0-9]+', '-', region.lower())}"


class Import:
    """One run: the administrator who sets things up, the files, and what has been done so far."""

    def __init__(self, admin: Client, northwind: Northwind, passwords: Passwords) -> None:
        self.admin, self.northwind, self.passwords = admin, northwind, passwords
        self.tally = Tally()
        self._told = time.monotonic()

    def run(self) -> None:
        """Everything, in the order in which one thing needs the other; prints what each person sees."""
        departments = self.departments()
        users = self.users(departments, self.roles())
        clients = {person.number: self.sign_in(person, users) for person in self.northwind.employees}
        self.customers(clients)
        for person in self.northwind.employees:
            print(self.sight(person, clients[person.number]))

    def departments(self) -> dict[str | None, int]:
        """The company and one department a region; their ids by region, the company's under None."""
        path = "/system/departments"
        there = {record["code"]: record for record in flatten(self.admin.call("GET", path))}
        root = self.settle(self.admin, path, there.get(ROOT), {"code": ROOT, "name": COMPANY})
        ids: dict[str | None, int] = {None: root["id"]}
        for region in self.northwind.regions:
            wanted = {"code": slug(region), "name": region, "parent_id": root["id"]}
            ids[region] = self.settle(self.admin, path, there.get(slug(region)), wanted)["id"]
        return ids

    def roles(self) -> dict[str, int]:
        """The three roles with their scopes and grants; their ids by the name that the data give them."""
        path = "/system/roles"
        there = {record["code"]: record for record in self.admin.every(path)}
        menus = grants(flatten(self.admin.call("GET", "/system/menus/all")))
        ids = {}
        for key, role in ROLES.items():
            code = f"{ROOT}-{key}"
            wanted = {"code": code, "name": f"Northwind {role.title}", "data_scope": role.scope}
            record = self.settle(self.admin, path, there.get(code), wanted)
            held = set(record["menu_ids"])
            if not menus <= held:
                self.admin.call("PUT", f"{path}/{record['id']}/menus", {"menu_ids": sorted(menus | held)})
                self.tally.changed += code in there
            ids[key] = record["id"]
        return ids

    def users(self, departments: dict[str | None, int], roles: dict[str, int]) -> dict[str, int]:
        """A user for each employee; their ids by user name."""
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
            record = self.settle(self.admin, path, there.get(person.username), wanted, first)
            if person.username not in there:
                self.passwords.keep(person.username, password)
            ids[person.username] = record["id"]
        return ids

    def sign_in(self, person: Employee, users: dict[str, int]) -> Client:
        """Logged in as this employee; where the password is not known any more, it is reset first."""
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

    def customers(self, clients: dict[int, Client]) -> None:
        """Each customer, created or corrected by the employee it belongs to; what is refused is a problem."""
        there = {record["code"]: record for record in self.admin.every(CUSTOMERS)}
        for done, customer in enumerate(self.northwind.customers):
            self.progress(f"{done} of {len(self.northwind.customers)} customers")
            client, record = clients[customer.employee], there.get(customer.code)
            if record is not None and record["creator_id"] != client.user["userId"]:
                self.tally.problems.append(f"customer {customer.code} is there, created by somebody else")
                continue
            try:
                self.settle(client, CUSTOMERS, record, fields(customer))
            except ServiceError as error:
                self.tally.problems.append(f"customer {customer.code}: {error}")

    def sight(self, person: Employee, client: Client) -> str:
        """How many of these customers a person sees, and why, as one line."""
        ours = {customer.code for customer in self.northwind.customers}
        seen = [record["code"] in ours for record in client.every(CUSTOMERS)]
        others = f" (and {len(seen) - sum(seen)} that are not Northwind's)" if not all(seen) else ""
        role = ROLES[person.role]
        why = role.why.format(department=person.region or COMPANY)
        count = f"{person.username:17} sees {sum(seen):3} customers{others}"
        return f"{count}: {role.title}, scope {role.scope}, {why}"

    def settle(
        self, client: Client, path: str, there: Record | None, wanted: Record, first: Record | None = None
    ) -> Record:
        """The record as wanted: created (with `first` besides), changed where it differs, or left alone."""
        if there is None:
            created: Record = client.create(path, wanted | (first or {}))
            self.tally.created += 1
            return created
        different = {name: value for name, value in wanted.items() if there[name] != value}
        if not different:
            return there
        body = different | {"version": there["version"]}
        changed: Record = client.call("PATCH", f"{path}/{there['id']}", body)
        self.tally.changed += 1
        return changed

    def progress(self, text: str) -> None:
        """Tell how far it is, at most every two seconds."""
        if time.monotonic() - self._told >= PROGRESS_SECONDS:
            self._told = time.monotonic()
            print(text, file=sys.stderr)


def flatten(tree: Iterable[Record]) -> Iterator[Record]:
    """All nodes of a tree, parents first."""
    for node in tree:
        yield node
        yield from flatten(node["children"])


def grants(menus: Iterable[Record]) -> set[int]:
    """The menus and buttons to grant: for each entry of GRANTED the record that opens the least besides."""
    entries = {
        menu["id"]: [(api["method"], re.sub(r"\{[^}]*\}|:[^/]+", "{}", api["path"])) for api in menu["apis"]]
        for menu in menus
    }
    chosen = set()
    for entry in GRANTED:
        holders = [number for number, apis in entries.items() if entry in apis]
        if not holders:
            raise ServiceError(f"no menu of the service opens {' '.join(entry)}; is its crm plugin loaded?")
        chosen.add(min(holders, key=lambda number: (len(entries[number]), number)))
    return chosen


def fields(customer: Customer) -> Record:
    """A customer as the service takes it."""
    return {
        "code": customer.code,
        "name": customer.name,
        "phone": customer.phone,
        "address": customer.address,
        "tags": list(customer.tags),
        "remark": customer.remark,
    }


def summary(notes: Sequence[Note]) -> Iterator[str]:
    """What was mended, counted by file; then each line that was not, and each choice, one by one."""
    mended = Counter((note.file, note.text) for note in notes if note.kind == "mended")
    for (file, text), count in mended.items():
        yield f"mended: {file}, {count} lines: {text}"
    for note in notes:
        if note.kind != "mended":
            yield f"{note.kind}: {note.file} line {note.line}: {note.text}"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="scripts/northwind", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the CSV files are")
    parser.add_argument("--base", default="http://127.0.0.1:8000", help="address of the service")
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
    """From the environment, else from the terminal. Raises DataError where there is neither."""
    password = os.environ.get("TRADEWIND_ADMIN_PASSWORD")
    if password:
        return password
    if not sys.stdin.isatty():
        raise DataError(f"set TRADEWIND_ADMIN_PASSWORD to the password of {username}")
    return getpass.getpass(f"Password of {username}: ")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 all is as the files say, 1 the service refused something, 2 nothing was tried."""
    given = arguments(argv)
    try:
        northwind = read(given.folder)
        password = administrator_password(given.username)
        print(*summary(northwind.notes), sep="\n")
        admin = Client(given.base)
        admin.login(given.username, password)
        work = Import(admin, northwind, Passwords(given.passwords, admin.base))
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
