"""200 simultaneous requests for one thing, over two servers: one winner, or exact sums."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tests.experiments.fault_injection.clients import Connection, Reply
from tests.experiments.fault_injection.experiment import Bench, in_thread
from tests.experiments.fault_injection.load import APPROVALS, CRM, FINANCE, INVENTORY, Load
from tests.support.replica_sets import ReplicaSet, Server, free_ports

NAME = "contention"
_AT_ONCE = 200

Ask = Callable[[int], tuple[str, str, Any]]


async def run(bench: Bench) -> None:
    """Contend for one customer, contract, product, number series and approval, in three rounds."""
    folder = bench.subfolder("contention")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    servers = [Server(folder, f"many-{port}", port, replica_set.uri) for port in free_ports(2)]
    try:
        for server in servers:
            await in_thread(server.start)
        async with Load([server.port for server in servers], workers=0) as load:
            storm = Storm(bench, load)
            for turn in range(bench.times(3)):
                await _claim_and_pay(storm, turn)
                await _deliver(storm, turn)
                await _number(storm, turn)
                await _decide(storm, turn)
            ledgers = await in_thread(servers[0].ledgers)
            bench.tell(NAME, "ledgers", ledgers or "no difference", "no difference", not ledgers)
    finally:
        for server in servers:
            await in_thread(server.stop)
        await in_thread(replica_set.stop)


class Storm:
    """Two hundred clients, spread over the servers."""

    def __init__(self, bench: Bench, load: Load) -> None:
        self.bench, self.load = bench, load
        self.must = load.admin.must
        self._pool = [Connection(load.ports[n % len(load.ports)], load.admin.token) for n in range(_AT_ONCE)]

    async def at_once(self, what: str, ask: Ask) -> tuple[list[Reply], str]:
        """Send `ask(n)` from every client at once, and again after 50300; return the last replies and a figure."""
        began, first = time.monotonic(), Counter[str]()

        async def one(n: int) -> Reply:
            reply = await self._pool[n].call(*ask(n))
            first[reply.outcome] += 1
            for _ in range(40):
                if reply.code != 50300:
                    break
                await asyncio.sleep(0.2)
                reply = await self._pool[n].call(*ask(n))
            return reply

        replies = list(await asyncio.gather(*(one(n) for n in range(_AT_ONCE))))
        return replies, f"first {dict(first)}, {time.monotonic() - began:.1f} s"

    def tell(self, what: str, figure: str, expected: str, holds: bool) -> None:
        """Report one line of the result."""
        self.bench.tell(NAME, what, figure, expected, holds)


def _winners(replies: list[Reply]) -> list[Any]:
    return [reply.data for reply in replies if reply.outcome == "0"]


async def _claim_and_pay(storm: Storm, turn: int) -> None:
    customer = (await storm.must("POST", f"{CRM}/customers", {"name": f"{storm.load.mark}-pool-{turn}"}))["id"]
    await storm.must("POST", f"{CRM}/customers/{customer}/release", {})
    replies, figure = await storm.at_once("claim", lambda n: ("POST", f"{CRM}/customers/{customer}/claim", {}))
    winners = len(_winners(replies))
    storm.tell("200 claim one customer", f"{winners} winner, {figure}", "1 winner", winners == 1)
    contract = {"customer_id": customer, "name": "c", "amount": "100.00"}
    made = (await storm.must("POST", f"{CRM}/contracts", contract))["id"]
    for action in ("submit", "approve"):
        await storm.must("POST", f"{CRM}/contracts/{made}/{action}", {})
    payment = {"contract_id": made, "amount": "1.00", "method": "transfer"}
    replies, figure = await storm.at_once("pay", lambda n: ("POST", f"{CRM}/payments", payment))
    received = Decimal((await storm.must("GET", f"{CRM}/contracts/{made}"))["received_amount"])
    paid = len(_winners(replies))
    storm.tell(
        "200 pay 1.00 on 100.00", f"{paid} paid, {received} received, {figure}", "100.00", paid == 100 == received
    )


async def _deliver(storm: Storm, turn: int) -> None:
    product = {"sku": f"{storm.load.mark}-s{turn}", "name": "s", "price": "9.90", "cost": "4.00"}
    product_id = (await storm.must("POST", f"{INVENTORY}/products", product))["id"]
    count = {
        "warehouse_id": storm.load.warehouse,
        "lines": [{"product_id": product_id, "counted": "10", "cost": "4.00"}],
    }
    await storm.must("POST", f"{INVENTORY}/stock-counts", count)
    line = {"product_id": product_id, "quantity": "1", "price": "1.00"}
    orders = []
    for _ in range(_AT_ONCE):
        order = {"customer_name": "s", "warehouse_id": storm.load.warehouse, "lines": [line]}
        orders.append((await storm.must("POST", f"{INVENTORY}/sales-orders", order))["id"])
        await storm.must("POST", f"{INVENTORY}/sales-orders/{orders[-1]}/confirm", {})
    replies, figure = await storm.at_once(
        "deliver", lambda n: ("POST", f"{INVENTORY}/sales-orders/{orders[n]}/deliver", {})
    )
    rows = (await storm.must("GET", f"{INVENTORY}/stock?product_id={product_id}"))["items"]
    left, delivered = [Decimal(row["quantity"]) for row in rows], len(_winners(replies))
    storm.tell(
        "200 deliver the last 10 pieces",
        f"{delivered} delivered, left {left}, {figure}",
        "10",
        delivered == 10 and not any(left),
    )


async def _number(storm: Storm, turn: int) -> None:
    mark = f"{storm.load.mark}-v{turn}"
    voucher = {"kind": "income", "account_id": storm.load.accounts[0], "amount": "1.00", "counterparty": mark}
    replies, figure = await storm.at_once("number", lambda n: ("POST", f"{FINANCE}/vouchers", voucher))
    numbers = sorted(int(data["number"].rpartition("-")[2]) for data in _winners(replies))
    in_a_row = numbers == list(range(numbers[0], numbers[0] + _AT_ONCE)) if numbers else False
    storm.tell(
        "200 vouchers of one series", f"{len(numbers)} numbers, {figure}", "200, without gap or double", in_a_row
    )


async def _decide(storm: Storm, turn: int) -> None:
    node = {"key": "n", "name": "n", "approvers": {"users": [1]}, "mode": "any", "on_reject": "end"}
    definition = {"name": f"{storm.load.mark}-{turn}", "biz_type": "GENERAL", "nodes": [node]}
    made = (await storm.must("POST", f"{APPROVALS}/definitions", definition))["id"]
    request = {"definition_id": made, "title": "t"}
    instance = (await storm.must("POST", f"{APPROVALS}/instances", request))["id"]
    await storm.must("POST", f"{APPROVALS}/instances/{instance}/submit", {})
    replies, figure = await storm.at_once(
        "decide", lambda n: ("POST", f"{APPROVALS}/instances/{instance}/{'agree' if n % 2 else 'reject'}", {})
    )
    winners = len(_winners(replies))
    storm.tell("200 decide on one task", f"{winners} winner, {figure}", "1 winner", winners == 1)
