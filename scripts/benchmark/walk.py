"""A walk through many customers by cursor, while others come and go.

`python -m scripts.benchmark.walk [--rows N]` starts a service of its own over an embedded database, imports N customers
(100,000) as a seller, and walks through them in two orders, as the seller (scope `self`) and as the administrator
(scope `all`), while a second client creates and deletes customers all the time. Told for each walk: how many rows
that were there before and after it came once, twice or not at all, and what the last pages cost against the first.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from scripts.benchmark.exchange import API, PASSWORD, Caller, keep, service, table

PAGE_SIZE, COMPARED = 200, 20
ORDERS = ("-created_at", "name")
SELLER = "walking.seller"


class Traffic(threading.Thread):
    """Creates a customer and deletes it or another, over and over, until it is told to stop."""

    def __init__(self, caller: Caller) -> None:
        super().__init__(daemon=True)
        self._caller, self._over = caller, threading.Event()
        self.passing: set[str] = set()
        self.deleted: set[str] = set()

    def run(self) -> None:
        """Half of the new ones stay, and for each of those one that was there goes."""
        while not self._over.is_set():
            first, second = (self._caller.call("POST", API, {"name": f"passing {n}"})["id"] for n in range(2))
            self.passing |= {first, second}
            old = self._caller.call("GET", f"{API}?page_size=1&page=40&with_total=false")["items"][0]["id"]
            for id in {first, old}:
                self._caller.call("DELETE", f"{API}/{id}")
                self.deleted.add(id)

    def stop(self) -> None:
        """Wait for its end."""
        self._over.set()
        self.join()


def walk(caller: Caller, order: str) -> tuple[Counter[str], list[float]]:
    """How often each row came, and the milliseconds of each page."""
    seen: Counter[str] = Counter()
    costs, cursor = [], None
    while True:
        query = {"sort": order, "page_size": PAGE_SIZE, "with_total": "false"} | ({"cursor": cursor} if cursor else {})
        started = time.perf_counter()
        page = caller.call("GET", f"{API}?{urlencode(query)}")
        costs.append((time.perf_counter() - started) * 1000)
        seen.update(row["id"] for row in page["items"])
        cursor = page["next_cursor"]
        if cursor is None:
            return seen, costs


def measure(walker: Caller, other: Caller, order: str, stable: set[str]) -> dict[str, Any]:
    """One walk beside the traffic; `stable` loses what the traffic deleted."""
    traffic = Traffic(other)
    traffic.start()
    seen, costs = walk(walker, order)
    traffic.stop()
    stable -= traffic.deleted
    came = Counter(seen[id] for id in stable)
    # the last page of all is a short one
    first, last = statistics.median(costs[:COMPARED]), statistics.median(costs[-COMPARED - 1 : -1])
    return {
        "order": order, "stable": len(stable), "once": came[1], "missed": came[0], "twice": len(stable) - came[1] - came[0],
        "created_meanwhile": len(traffic.passing), "deleted_meanwhile": len(traffic.deleted), "pages": len(costs),
        "first_ms": round(first, 1), "last_ms": round(last, 1), "ratio": round(last / first, 2),
    }  # fmt: skip


def hire(admin: Caller, port: int) -> Caller:
    """A seller who sees what they created."""
    system = "/api/v1/system"
    role = admin.call("POST", f"{system}/roles", {"code": SELLER, "name": "Seller", "data_scope": "self"})
    waiting, granted = admin.call("GET", f"{system}/menus/all"), []
    while waiting:
        menu = waiting.pop()
        waiting += menu["children"]
        granted += [menu["id"]] if str(menu["permission"]).startswith("crm:customer:") else []
    admin.call("PUT", f"{system}/roles/{role['id']}/menus", {"menu_ids": granted})
    person = {"username": SELLER, "password": PASSWORD, "must_change_password": False, "role_ids": [role["id"]]}
    admin.call("POST", f"{system}/users", person)
    return Caller(port, SELLER, PASSWORD)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 1 where a stable row did not come exactly once."""
    parser = argparse.ArgumentParser(prog="python -m scripts.benchmark.walk", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args(arguments).rows
    walks = []
    with tempfile.TemporaryDirectory() as name, service(Path(name) / "data") as port:
        admin = Caller(port, "admin", PASSWORD)
        seller = hire(admin, port)
        print(seller.import_table(table(Path(name) / "customers.csv", rows, "C")), flush=True)
        stable = set(walk(admin, "name")[0])
        for person, walker in (("seller", seller), ("administrator", admin)):
            for order in ORDERS:
                figures = measure(walker, seller, order, stable)
                print(person, json.dumps(figures), flush=True)
                walks.append({"person": person, **figures})
    keep("walk", {"rows": rows, "walks": walks})
    return int(any(one["missed"] or one["twice"] for one in walks))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
