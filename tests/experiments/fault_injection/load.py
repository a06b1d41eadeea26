"""A mixed load that remembers which writes were acknowledged: customers, money, stock, vouchers and approvals."""

from __future__ import annotations

import asyncio
import itertools
import random
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from tests.experiments.fault_injection.clients import Connection, Reply
from tests.support.replica_sets import ADMIN_PASSWORD

CRM, INVENTORY, FINANCE, APPROVALS = "/api/v1/crm", "/api/v1/inventory", "/api/v1/finance", "/api/v1/approvals"
MIX = {"customer": 6, "patch": 5, "pay": 5, "stock": 4, "voucher": 5, "approval": 3, "read": 8}
_RETRY_SECONDS = 90.0
_REMEMBERED = 30

State = Literal["acknowledged", "refused", "unknown"]


@dataclass
class Patched:
    """A customer that one worker changes, as the service last acknowledged it.

    `maybe` holds the remarks of changes whose outcome is unknown.
    """

    id: str
    version: int
    remark: str | None = None
    maybe: set[str] = field(default_factory=set)


@dataclass
class Facts:
    """The outcome of each write, by the mark that is stored with it."""

    customers: dict[str, State] = field(default_factory=dict)
    payments: dict[str, State] = field(default_factory=dict)
    vouchers: dict[str, State] = field(default_factory=dict)
    shipped: dict[str, State] = field(default_factory=dict)
    agreed: dict[str, State] = field(default_factory=dict)
    patched: dict[str, Patched] = field(default_factory=dict)


class Taken(NamedTuple):
    """A request that got a response, or a fault: when it was sent (monotonic), and how long it took."""

    began: float
    seconds: float
    outcome: str
    port: int
    request: str

    @property
    def ended(self) -> float:
        """When the response was there (monotonic)."""
        return self.began + self.seconds


class Load:
    """Workers who each perform operations, one after the other, on the servers at `ports`.

    `keyed`: the fraction of the writes that carry an Idempotency-Key and are retried; the others are sent once.
    `pace`: the mean pause between two operations of a worker, in seconds.
    """

    def __init__(
        self,
        ports: Sequence[int],
        workers: int = 16,
        keyed: float = 0.5,
        pace: float = 0.0,
        mix: Mapping[str, int] = MIX,
    ) -> None:
        self.ports, self.count, self.keyed, self.pace, self.mix = ports, workers, keyed, pace, mix
        self.mark = f"f{secrets.token_hex(3)}"
        self.facts = Facts()
        self.took: list[Taken] = []
        self.anomalies: list[tuple[Any, ...]] = []
        self.late_writes = 0
        self.workers: list[Worker] = []
        self.products: list[str] = []
        self.accounts: list[str] = []
        self.warehouse = self.supplier = ""
        self.running = False
        self._numbers = itertools.count(1)
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Load:
        self.admin = await Connection(self.ports[0]).log_in("admin", ADMIN_PASSWORD)
        await self._make_master_data()
        for n in range(self.count):
            self.workers.append(await self._make_worker(n))
        self.took.clear()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.running = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self.workers:
            worker.connection.drop()
        self.admin.drop()

    async def _make_master_data(self) -> None:
        must, tag = self.admin.must, self.mark
        self.warehouse = (await must("POST", f"{INVENTORY}/warehouses", {"code": f"W{tag}", "name": tag}))["id"]
        self.supplier = (await must("POST", f"{INVENTORY}/suppliers", {"code": f"S{tag}", "name": tag}))["id"]
        for n in range(4):
            product = {"sku": f"{tag}-{n}", "name": tag, "price": "9.90", "cost": "4.00"}
            self.products.append((await must("POST", f"{INVENTORY}/products", product))["id"])
            line = {"product_id": self.products[-1], "counted": "100000", "cost": "4.00"}
            await must("POST", f"{INVENTORY}/stock-counts", {"warehouse_id": self.warehouse, "lines": [line]})
        for n in range(2):
            account = {"code": f"A{tag}{n}", "name": tag, "type": "bank"}
            self.accounts.append((await must("POST", f"{FINANCE}/accounts", account))["id"])

    async def _make_worker(self, n: int) -> Worker:
        name = f"{self.mark}-{n}"
        person = {"username": name, "password": ADMIN_PASSWORD, "is_super": True, "must_change_password": False}
        await self.admin.must("POST", "/api/v1/system/users", person)
        connection = await Connection(self.ports[n % len(self.ports)]).log_in(name, ADMIN_PASSWORD)
        node = {
            "key": "n",
            "name": "n",
            "approvers": {"users": [connection.user_id]},
            "mode": "any",
            "on_reject": "end",
        }
        definition = {"name": name, "biz_type": "GENERAL", "nodes": [node]}
        made = await self.admin.must("POST", f"{APPROVALS}/definitions", definition)
        return Worker(self, connection, made["id"])

    def start(self) -> None:
        """Start the workers."""
        self.running = True
        self._tasks = [asyncio.create_task(worker.run()) for worker in self.workers]

    async def stop(self) -> None:
        """Stop after every worker has finished its current operation."""
        self.running = False
        await asyncio.gather(*self._tasks)
        for worker in self.workers:
            self.facts.patched |= {record.id: record for record in worker.mine}

    async def run(self, seconds: float) -> None:
        """Start, wait for `seconds`, and stop."""
        self.start()
        await asyncio.sleep(seconds)
        await self.stop()

    def number(self) -> str:
        """Return a mark that no other write of this load has."""
        return f"{self.mark}-{next(self._numbers):07}"

    def note(self, method: str, path: str, port: int, reply: Reply, began: float) -> None:
        """Count a reply, and record it if it is one that must never occur."""
        self.took.append(Taken(began, reply.seconds, reply.outcome, port, f"{method} {path}"))
        if reply.code == 50000:
            self.anomalies.append(("50000", method, path, reply.data))
        if reply.code == 50300 and "retry-after" not in reply.headers:
            self.anomalies.append(("50300 without Retry-After", method, path))

    def outcomes(self, since: float = 0.0, port: int | None = None) -> Counter[str]:
        """Return how often each outcome occurred, of the requests sent after `since`, to all servers or to `port`."""
        return Counter(one.outcome for one in self.took if one.began >= since and port in (None, one.port))

    def slowest(self, since: float = 0.0) -> float:
        """Return the longest response time of the requests sent after `since`, in seconds."""
        return max((one.seconds for one in self.took if one.began >= since), default=0.0)

    def later_than(self, seconds: float, since: float) -> list[Taken]:
        """Return the requests sent after `since` that took longer than `seconds`."""
        return [one for one in self.took if one.began >= since and one.seconds > seconds]

    def longest_gap(self, since: float, until: float) -> float:
        """Return the longest time without a successful response between two moments, in seconds."""
        ended = sorted(one.ended for one in self.took if one.outcome == "0")
        moments = [since, *(moment for moment in ended if since <= moment <= until), until]
        return max(later - earlier for earlier, later in itertools.pairwise(moments))

    def quantile_ms(self, q: float, since: float = 0.0) -> int:
        """Return a quantile of the response times of the requests sent after `since`, in ms."""
        took = sorted(one.seconds for one in self.took if one.began >= since)
        return round(took[min(len(took) - 1, int(len(took) * q))] * 1000) if took else 0

    def anomaly_counts(self) -> dict[str, int]:
        """Return how often each kind of anomaly occurred."""
        return dict(Counter(str(anomaly[0]) for anomaly in self.anomalies))


class Worker:
    """One person with a connection."""

    def __init__(self, load: Load, connection: Connection, definition: str) -> None:
        self.load, self.connection, self.definition = load, connection, definition
        self.mine: list[Patched] = []

    async def run(self) -> None:
        """Go through operations until the load stops."""
        names, weights = list(self.load.mix), list(self.load.mix.values())
        operations = {name: getattr(self, f"do_{name}") for name in names}
        while self.load.running:
            name = random.choices(names, weights)[0]
            try:
                await operations[name]()
            except (KeyError, TypeError, ValueError) as error:
                self.load.anomalies.append(("a response of another shape", name, repr(error)))
            if self.load.pace:
                await asyncio.sleep(random.uniform(0, 2 * self.load.pace))

    async def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Reply:
        """Send one request and count it."""
        began = time.monotonic()
        reply = await self.connection.call(method, path, body, headers)
        self.load.note(method, path, self.connection.port, reply, began)
        return reply

    async def write(self, method: str, path: str, body: Any, keyed: bool | None = None) -> tuple[State, Any]:
        """Send a write, and return its state with its data, or with the outcome with which it was refused or lost."""
        if keyed is None:
            keyed = random.random() < self.load.keyed
        headers = {"Idempotency-Key": secrets.token_hex(12)} if keyed else {}
        end, retried = time.monotonic() + _RETRY_SECONDS, False
        while True:
            reply = await self.call(method, path, body, headers)
            if reply.outcome == "0":
                return "acknowledged", reply.data
            if not reply.fault and reply.code != 50300:
                if retried:
                    self.load.anomalies.append(("refused after a retry with the key", path, reply.code, reply.data))
                return "refused", reply.code
            if not keyed or time.monotonic() > end:
                return "unknown", reply.outcome
            retried = True
            await asyncio.sleep(random.uniform(0.1, 0.5))

    async def need(self, path: str, body: Any) -> Any:
        """Return the data of a write that the next operation needs, or None if it failed."""
        state, data = await self.write("POST", path, body, keyed=True)
        return data if state == "acknowledged" else None

    def _keep(self, facts: dict[str, State], mark: str, state: State, told: Any) -> None:
        facts[mark] = state
        if state == "refused":
            self.load.anomalies.append(("a sound write was refused", mark, told))

    async def do_customer(self) -> None:
        """Create a customer and read it back."""
        code = self.load.number()
        state, data = await self.write("POST", f"{CRM}/customers", {"name": f"c {code}", "code": code})
        self._keep(self.load.facts.customers, code, state, data)
        if state != "acknowledged":
            return
        self.mine.append(Patched(data["id"], data["version"]))
        reply = await self.call("GET", f"{CRM}/customers/{data['id']}")
        if reply.code == 40400:
            self.load.anomalies.append(("an acknowledged record is not found", data["id"]))
        if len(self.mine) > _REMEMBERED:
            oldest = self.mine.pop(0)
            self.load.facts.patched[oldest.id] = oldest

    async def do_patch(self) -> None:
        """Change one of this worker's customers; after a lost response, check whether it was changed."""
        if not self.mine:
            return await self.do_customer()
        record, remark = random.choice(self.mine), self.load.number()
        body = {"version": record.version, "remark": remark}
        state, data = await self.write("PATCH", f"{CRM}/customers/{record.id}", body, keyed=False)
        if state == "acknowledged":
            record.version, record.remark, record.maybe = data["version"], data["remark"], set()
            return None
        record.maybe.add(remark)
        now = await self._read_again(record)
        if now is None:
            self.mine.remove(record)
        elif now["remark"] in record.maybe and now["version"] == record.version + 1:
            # a write whose response was lost may still be applied after the read, when a frozen primary resumes
            self.load.late_writes += data == 40902
            record.version, record.remark, record.maybe = now["version"], now["remark"], set()
        elif (now["version"], now["remark"]) != (record.version, record.remark) or state == "refused":
            self.load.anomalies.append(("a patched record is neither before nor after", record, data, now["version"]))
            self.mine.remove(record)
        return None

    async def _read_again(self, record: Patched) -> Any:
        for _ in range(200):
            reply = await self.call("GET", f"{CRM}/customers/{record.id}")
            if reply.outcome == "0":
                return reply.data
            await asyncio.sleep(0.3)
        return None

    async def do_pay(self) -> None:
        """Create a contract, submit and approve it, and pay on it three times."""
        if not self.mine:
            return await self.do_customer()
        tag = self.load.number()
        contract = {"customer_id": self.mine[-1].id, "name": tag, "amount": "100.00"}
        made = await self.need(f"{CRM}/contracts", contract)
        for action in ("submit", "approve"):
            if made is None or await self.need(f"{CRM}/contracts/{made['id']}/{action}", {}) is None:
                return None
        for n in range(3):
            remark = f"{tag}-p{n}"
            payment = {"contract_id": made["id"], "amount": "30.00", "method": "transfer", "remark": remark}
            state, data = await self.write("POST", f"{CRM}/payments", payment)
            self._keep(self.load.facts.payments, remark, state, data)
        return None

    async def do_stock(self) -> None:
        """Order a product, and receive or deliver it."""
        buys = random.random() < 0.5
        orders, action = ("purchase-orders", "receive") if buys else ("sales-orders", "deliver")
        partner = {"supplier_id": self.load.supplier} if buys else {"customer_name": self.load.number()}
        line = {"product_id": random.choice(self.load.products), "quantity": str(random.randint(1, 5)), "price": "3.00"}
        order = await self.need(
            f"{INVENTORY}/{orders}", {**partner, "warehouse_id": self.load.warehouse, "lines": [line]}
        )
        if order is None or await self.need(f"{INVENTORY}/{orders}/{order['id']}/confirm", {}) is None:
            return
        state, data = await self.write("POST", f"{INVENTORY}/{orders}/{order['id']}/{action}", {})
        self._keep(self.load.facts.shipped, order["id"], state, data)

    async def do_voucher(self) -> None:
        """Book income or an expense."""
        mark = self.load.number()
        kind, account = random.choice(("income", "expense")), random.choice(self.load.accounts)
        voucher = {"kind": kind, "account_id": account, "amount": "1.25", "counterparty": mark}
        state, data = await self.write("POST", f"{FINANCE}/vouchers", voucher)
        self._keep(self.load.facts.vouchers, mark, state, data)

    async def do_approval(self) -> None:
        """Submit a request for approval and agree to it."""
        request = {"definition_id": self.definition, "title": self.load.number()}
        made = await self.need(f"{APPROVALS}/instances", request)
        if made is None or await self.need(f"{APPROVALS}/instances/{made['id']}/submit", {}) is None:
            return
        state, data = await self.write("POST", f"{APPROVALS}/instances/{made['id']}/agree", {})
        self._keep(self.load.facts.agreed, made["id"], state, data)

    async def do_read(self) -> None:
        """Read a list, a dashboard or the worker's own profile."""
        paths = (
            f"{CRM}/customers?page_size=20",
            f"{CRM}/customers?q={self.load.mark}&page_size=10",
            f"{CRM}/customers?page_size=200&sort=-created_at",
            f"{INVENTORY}/stock?page_size=20",
            f"{FINANCE}/vouchers?page_size=50",
            f"{APPROVALS}/instances?box=mine",
            "/api/dashboard/overview",
            "/api/dashboard/sales-trend?days=30",
            "/api/v1/auth/profile",
        )
        await self.call("GET", random.choice(paths))
