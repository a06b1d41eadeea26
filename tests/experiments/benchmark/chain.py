"""The cost of payments and deliveries beside an older checkout: the same requests to both, in turn.

Every request changes its own documents, which are made before the clock starts. One connection sends the requests, one
after the other, so that the time measured is the work of a request, not the wait for the balance of one account.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from config.embedded import acquire
from tests.experiments.benchmark.compare import CACHE, OTHER_CORE, Server, about, tradewind, wait_until_idle
from tests.experiments.benchmark.report import BEFORE
from tests.experiments.benchmark.servers import DATABASE
from tests.experiments.benchmark.world import new_secret
from tests.experiments.consumption import processor_seconds

AIM = 1.25
BEFORE_DATABASE = f"{DATABASE}_before"
_IN_A_BLOCK = 20
_LINES = 3
_API = "/api/v1"
Figures = dict[str, Any]
Post = tuple[str, Figures]


class Client:
    """An administrator with one kept connection."""

    def __init__(self, port: int, password: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Content-Type": "application/json"}
        token = self.post("/auth/login", {"username": "admin", "password": password})["accessToken"]
        self._headers["Authorization"] = f"Bearer {token}"

    def post(self, path: str, body: Figures | None = None) -> Any:
        """Send a POST, and return the `data` of the response. Raises `RuntimeError` if it is refused."""
        return self._ask("POST", path, body or {})

    def get(self, path: str) -> Any:
        """Send a GET, and return the `data` of the response. Raises `RuntimeError` if it is refused."""
        return self._ask("GET", path, None)

    def _ask(self, method: str, path: str, body: Figures | None) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        self._connection.request(method, _API + path, sent, self._headers)
        answer = self._connection.getresponse()
        shown = json.loads(answer.read())
        if shown["code"] != 0:
            raise RuntimeError(f"{method} {path}: {shown}")
        return shown["data"]


@dataclass
class Company:
    """The ids of the records that all documents of a server refer to."""

    client: Client
    account: str
    customer: str
    supplier: str
    warehouse: str
    products: Sequence[str]

    @classmethod
    def found(cls, client: Client) -> Company:
        """Create a company with more goods than will be delivered."""

        def make(path: str, **body: Any) -> str:
            id: str = client.post(path, body)["id"]
            return id

        warehouse = make("/inventory/warehouses", code="W", name="Warehouse")
        products = [
            make("/inventory/products", sku=f"P-{number}", name=f"Product {number}", price="12.50", cost="8.00")
            for number in range(_LINES)
        ]
        counted = [{"product_id": id, "counted": "1000000", "cost": "8.00"} for id in products]
        client.post("/inventory/stock-counts", {"warehouse_id": warehouse, "lines": counted})
        return cls(
            client,
            make("/finance/accounts", code="1002", name="Bank", type="bank"),
            make("/crm/customers", code="C-1", name="Customer"),
            make("/inventory/suppliers", code="S-1", name="Supplier"),
            warehouse,
            products,
        )

    def invoice(self, number: int) -> Post:
        """Create an invoice, and return the request that pays it."""
        body = {"direction": "out", "number": f"I-{number}", "counterparty": "Customer", "amount": "100.00"}
        invoice = self.client.post("/finance/invoices", body)
        self.client.post(f"/finance/invoices/{invoice['id']}/confirm")
        return f"/finance/invoices/{invoice['id']}/pay", {"account_id": self.account}

    def payable(self, number: int) -> Post:
        """Receive a purchase, and return the request that pays it."""
        order = self._confirmed("purchase-orders", supplier_id=self.supplier, remark=str(number))
        self.client.post(f"/inventory/purchase-orders/{order}/receive")
        (item,) = self.client.get(f"/finance/payables?resource_id={order}")["items"]
        return f"/finance/payables/{item['id']}/pay", {"account_id": self.account}

    def contract(self, number: int) -> Post:
        """Create a contract in crm, and return the request that pays it."""
        body = {"customer_id": self.customer, "name": f"Contract {number}", "amount": "100.00"}
        contract = self.client.post("/crm/contracts", body)
        at = f"/crm/contracts/{contract['id']}"
        if self.client.post(f"{at}/submit")["status"] == "pending":
            self.client.post(f"{at}/approve")
        return "/crm/payments", {"contract_id": contract["id"], "amount": "100.00", "method": "transfer"}

    def delivery(self, number: int) -> Post:
        """Confirm an order, and return the request that delivers it."""
        order = self._confirmed("sales-orders", customer_id=self.customer, customer_name="Customer", remark=str(number))
        return f"/inventory/sales-orders/{order}/deliver", {}

    def _confirmed(self, kind: str, **body: Any) -> str:
        lines = [{"product_id": id, "quantity": "2"} for id in self.products]
        order = self.client.post(f"/inventory/{kind}", {**body, "warehouse_id": self.warehouse, "lines": lines})
        self.client.post(f"/inventory/{kind}/{order['id']}/confirm")
        id: str = order["id"]
        return id


_WORKS: dict[str, tuple[str, Callable[[Company, int], Post]]] = {
    "invoice": ("payment of an invoice", Company.invoice),
    "payable": ("payment of a purchase", Company.payable),
    "contract": ("payment of a contract", Company.contract),
    "delivery": (f"delivery of an order of {_LINES} lines", Company.delivery),
}


def chain(before: Path | None, rounds: int, only: Sequence[str], folder: Path | None) -> Figures:
    """Measure every work in blocks of 20 requests to each server in turn, with `rounds` blocks for each."""
    folder = folder or CACHE / "chain"
    for needed in (CACHE, folder):
        needed.mkdir(parents=True, exist_ok=True)
    os.sched_setaffinity(0, {OTHER_CORE})  # for mongod and the client; the servers have their own core
    embedded = acquire(folder)
    try:
        with MongoClient[Figures](embedded.uri) as client, ExitStack() as stack:
            for name in (DATABASE, BEFORE_DATABASE):
                client.drop_database(name)
            world = {"uri": embedded.uri, "secret": new_secret(), "admin_password": secrets.token_urlsafe(12) + "-aZ7"}
            servers = [stack.enter_context(tradewind("tradewind", folder, world))]
            if before is not None:
                servers.append(stack.enter_context(tradewind(BEFORE, folder, world, before, BEFORE_DATABASE)))
            companies = [Company.found(Client(server.port, world["admin_password"])) for server in servers]
            figures = about(rounds, 0, 1) | {"connections": 1, "load": "http.client", "in_a_block": _IN_A_BLOCK}
            figures["works"] = {
                name: {"title": title, "aim": AIM, **_measured(make, servers, companies, rounds, client)}
                for name, (title, make) in _WORKS.items()
                if not only or name in only
            }
            return figures
    finally:
        embedded.release_and_wait(15)


def _measured(
    make: Callable[[Company, int], Post],
    servers: Sequence[Server],
    companies: Sequence[Company],
    rounds: int,
    client: MongoClient[Figures],
) -> Figures:
    mongod = int(client.admin.command("serverStatus")["pid"])
    seen: dict[str, list[Figures]] = {server.name: [] for server in servers}
    numbers = iter(range(rounds * _IN_A_BLOCK * len(servers) * 2))
    for number in range(-1, rounds):
        posts = {id(one): [make(one, next(numbers)) for _ in range(_IN_A_BLOCK)] for one in companies}
        pairs = list(zip(servers, companies, strict=True))
        for server, company in pairs if number % 2 else reversed(pairs):
            wait_until_idle(client)
            block = _timed(company.client, posts[id(company)], server, mongod)
            if number >= 0:  # the first block only warms up
                seen[server.name].append(block)
    return _compared(seen)


def _timed(client: Client, posts: Sequence[Post], server: Server, mongod: int) -> Figures:
    before = server.processor_seconds(), processor_seconds(mongod)
    times = list(_seconds_of(client, posts))
    after = server.processor_seconds(), processor_seconds(mongod)
    return {
        "ms": statistics.median(times) * 1e3,
        "server_us": (after[0] - before[0]) / len(posts) * 1e6,
        "mongod_us": (after[1] - before[1]) / len(posts) * 1e6,
    }


def _seconds_of(client: Client, posts: Sequence[Post]) -> Iterator[float]:
    for path, body in posts:
        started = time.perf_counter()
        client.post(path, body)
        yield time.perf_counter() - started


def _compared(seen: dict[str, list[Figures]]) -> Figures:
    """Return the medians by server, the mean processor times, and the ratio of the newer version to the older one."""
    servers = {
        name: {
            "ms": round(statistics.median(block["ms"] for block in blocks), 2),
            **{key: round(statistics.mean(block[key] for block in blocks)) for key in ("server_us", "mongod_us")},
        }
        for name, blocks in seen.items()
    }
    ratios = [new["ms"] / old["ms"] for new, old in zip(seen["tradewind"], seen.get(BEFORE, ()), strict=False)]
    shown = {"servers": servers, "ratio": round(statistics.median(ratios), 3) if ratios else None}
    print(json.dumps(shown), flush=True)
    return shown
