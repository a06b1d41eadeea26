"""Many simultaneous requests with one Idempotency-Key, over two servers that are killed meanwhile, as is mongod."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections import Counter
from typing import Any

from pymongo import MongoClient

from tests.experiments.fault_injection.clients import Connection
from tests.experiments.fault_injection.experiment import Bench, in_thread
from tests.experiments.fault_injection.load import CRM, FINANCE, Load
from tests.support.replica_sets import ReplicaSet, Server, free_ports

NAME = "twins of one key"
_TWINS = 50
_AT_ONCE = 4


async def run(bench: Bench) -> None:
    """Send 50 identical requests for each of 100 keys, with six kills of a server and two of mongod."""
    folder = bench.subfolder("twins")
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5).start)
    servers = [Server(folder, f"twin-{port}", port, replica_set.uri) for port in free_ports(2)]
    keys = bench.times(100)
    try:
        for server in servers:
            await in_thread(server.start)
        async with Load([server.port for server in servers], workers=0) as load:
            twins = Twins(load, keys)
            work = asyncio.create_task(twins.run())
            await _kill_meanwhile(work, twins, servers, replica_set)
            await work
            effects = await in_thread(twins.effects, replica_set.uri)
            bench.tell(NAME, "requests", dict(twins.outcomes))
            bench.tell(NAME, "effects of a key", effects, "1 each", set(effects) == {1})
            ids = Counter(len(found) for found in twins.ids.values())
            bench.tell(NAME, "different ids in the responses to a key", dict(ids), "1 each", set(ids) == {1})
            bench.tell(NAME, "twins that were refused", len(twins.refused), "0", not twins.refused)
    finally:
        for server in servers:
            await in_thread(server.stop)
        await in_thread(replica_set.stop)


class Twins:
    """The identical requests of every key."""

    def __init__(self, load: Load, keys: int) -> None:
        self.load, self.keys, self.done = load, keys, 0
        self.outcomes: Counter[str] = Counter()
        self.ids: dict[str, set[str]] = {}
        self.refused: list[str] = []

    async def run(self) -> None:
        """Send the requests of all keys, four keys at a time."""
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(n: int) -> None:
            async with gate:
                await self._send(n)
                self.done += 1

        await asyncio.gather(*(one(n) for n in range(self.keys)))

    async def _send(self, n: int) -> None:
        mark, key = f"{self.load.mark}-{n}", secrets.token_hex(16)
        voucher = {"kind": "income", "account_id": self.load.accounts[0], "amount": "1.00", "counterparty": mark}
        path, body = (f"{CRM}/customers", {"name": mark}) if n % 2 else (f"{FINANCE}/vouchers", voucher)
        replies = await asyncio.gather(*(self._twin(place, path, body, key) for place in range(_TWINS)))
        self.ids[mark] = {each for each in replies if each}

    async def _twin(self, place: int, path: str, body: dict[str, Any], key: str) -> str:
        ports = self.load.ports
        for attempt in range(90):
            connection = Connection(ports[(place + attempt) % len(ports)], self.load.admin.token)
            reply = await connection.call("POST", path, body, {"Idempotency-Key": key})
            connection.drop()
            self.outcomes[reply.outcome] += 1
            if reply.outcome == "0":
                return str(reply.data["id"])
            if not reply.fault and reply.code != 50300:
                self.refused.append(reply.outcome)
                return ""
            await asyncio.sleep(random.uniform(0.05, 0.4))
        self.refused.append("gave up")
        return ""

    def effects(self, uri: str) -> dict[int, int]:
        """Return how many keys created each number of records."""
        marked = {"$regex": f"^{self.load.mark}"}
        with MongoClient[dict[str, Any]](uri) as mongo:
            database = mongo.tradewind
            stored = Counter(row["name"] for row in database.crm_customers.find({"name": marked}))
            stored.update(row["counterparty"] for row in database.finance_vouchers.find({"counterparty": marked}))
        return dict(Counter(stored[f"{self.load.mark}-{n}"] for n in range(self.keys)))


async def _kill_meanwhile(
    work: asyncio.Task[None], twins: Twins, servers: list[Server], replica_set: ReplicaSet
) -> None:
    for turn in range(8):
        while not work.done() and twins.done < twins.keys * (turn + 1) / 10:
            await asyncio.sleep(0.05)
        if turn % 4 == 3:
            await in_thread(replica_set.kill, replica_set.ports[0])
            await asyncio.sleep(0.5)
            await in_thread(replica_set.start_member, replica_set.ports[0])
        else:
            victim = servers[turn % 2]
            await in_thread(victim.kill)
            await victim.start_again()
