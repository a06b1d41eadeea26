"""The three roles of the Northwind company: their data scopes, and what each of them may do."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.experiments.northwind_load.client import Record, ServiceError

Entry = tuple[str, str]
_CRM = "/api/v1/crm"
# what every role does: maintain customers and their contacts, make contracts, enter payments
_SELLING: tuple[Entry, ...] = (
    ("GET", f"{_CRM}/customers"),
    ("GET", f"{_CRM}/customers/{{}}"),
    ("POST", f"{_CRM}/customers"),
    ("PATCH", f"{_CRM}/customers/{{}}"),
    ("GET", f"{_CRM}/contacts"),
    ("POST", f"{_CRM}/contacts"),
    ("PATCH", f"{_CRM}/contacts/{{}}"),
    ("GET", f"{_CRM}/contracts"),
    ("POST", f"{_CRM}/contracts"),
    ("PATCH", f"{_CRM}/contracts/{{}}"),
    ("POST", f"{_CRM}/contracts/{{}}/submit"),
    ("GET", f"{_CRM}/payments"),
    ("POST", f"{_CRM}/payments"),
)
_DECIDING: tuple[Entry, ...] = (("POST", f"{_CRM}/contracts/{{}}/approve"),)


class Role(NamedTuple):
    """A role: its title, its data scope, what a person of `{department}` sees by that, in words, and its operations."""

    title: str
    scope: str
    why: str
    entries: tuple[Entry, ...]


ROLES = {
    "vice-president": Role("vice president", "all", "every customer there is", _SELLING + _DECIDING),
    "manager": Role("manager", "department_and_below", "what {department} and its sub-departments created", _SELLING),
    "representative": Role("representative", "self", "what they created themselves", _SELLING),
}


def grants(entries: Iterable[Entry], menus: Iterable[Record]) -> set[int]:
    """Return the menus and buttons to grant: for each operation the one that permits the fewest others."""
    opens = {
        menu["id"]: [(api["method"], re.sub(r"\{[^}]*\}|:[^/]+", "{}", api["path"])) for api in menu["apis"]]
        for menu in menus
    }
    chosen = set()
    for entry in entries:
        holders = [number for number, apis in opens.items() if entry in apis]
        if not holders:
            raise ServiceError(f"no menu of the service opens {' '.join(entry)}; is its crm plugin loaded?")
        chosen.add(min(holders, key=lambda number: (len(opens[number]), number)))
    return chosen


def flatten(tree: Iterable[Record]) -> Iterator[Record]:
    """Yield all nodes of a tree, parents first."""
    for node in tree:
        yield node
        yield from flatten(node["children"])
