"""mongod's own fault points: error codes, commands that hang, closed connections, write-concern errors.

The experiment also rebuilds indexes under readers, and kills the primary while transactions commit.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bson import ObjectId
from pymongo import MongoClient

from tests.experiments.fault_injection.clients import LIVENESS_MS, Connection, Liveness
from tests.experiments.fault_injection.experiment import Bench, in_thread
from tests.experiments.fault_injection.load import CRM, FINANCE, Load
from tests.support.replica_sets import ADMIN_PASSWORD, ReplicaSet, Server, free_ports

NAME = "fault points"
# src/mongo/base/error_codes.yml; a fault point cannot cause 13388 (StaleConfig), which needs additional data
CODES = (
    *(6, 7, 24, 43, 46, 50, 64, 89, 91, 100, 112, 134, 175, 189, 202, 237, 246, 251, 262, 290),
    *(10107, 11600, 11601, 11602, 13435, 13436, 14031),
)
COMMANDS = ("find", "insert", "findAndModify", "aggregate", "count", "getMore", "commitTransaction", "update", "delete")
_BLOCKED: tuple[tuple[str, ...], ...] = (
    ("commitTransaction",),
    ("insert",),
    ("find",),
    ("findAndModify",),
    ("aggregate",),
    ("abortTransaction",),
    ("commitTransaction", "abortTransaction"),
)
_WRITE_CONCERN = (64, 79, 91, 100, 189, 10107, 11600, 11602, 13435)
_EXPECTED = frozenset({"0", "50300", "40902"})
_ONLY = "only 0 and 50300, or an export that is broken off"
_SECONDS = 8.5  # eight seconds, and the delay that a loaded client adds
_ROWS = 30_000


async def run(bench: Bench) -> None:
    """Try every error code on every command, with both drivers at once, because most of the run waits for timeouts."""
    drivers = bench.options.get("drivers", "direct,motor").split(",")
    benches = [replace(bench, lines=[]) for _ in drivers]
    await asyncio.gather(*(_try_driver(one, driver) for one, driver in zip(benches, drivers, strict=True)))
    for one in benches:
        bench.lines += one.lines


async def _try_driver(bench: Bench, driver: str) -> None:
    """Start a replica set of one member and a server on it, and inject every fault."""
    folder = bench.subfolder(f"failpoints-{driver}")
    replica_set = ReplicaSet(folder / "mongo", members=1, election_ms=2000, cache_gb=0.5, failpoints=True)
    await in_thread(replica_set.start)
    server = Server(folder, driver, free_ports(1)[0], replica_set.uri, mongodb_driver=driver)
    try:
        await in_thread(server.start)
        async with Load([server.port], workers=0) as load:
            people = await People.of(load)
            with MongoClient[dict[str, Any]](replica_set.uri) as mongo:
                failpoint = Failpoint(mongo)
                await _hang(bench, driver, people, failpoint, server.pid)
                await _fail(bench, driver, people, failpoint)
                await _close(bench, driver, people, failpoint)
                await _doubt(bench, driver, people, failpoint)
                await _rebuild(bench, driver, load, mongo)
            stored = await in_thread(people.stored, replica_set.uri)
            measure = f"{driver}: created records by outcome and count"
            bench.tell(NAME, measure, stored, "none lost or doubled", _is_sound(stored))
            await _die_in_commit(bench, driver, load, replica_set, server.pid)
    finally:
        await in_thread(server.stop)
        await in_thread(replica_set.stop)


class Failpoint:
    """mongod's `failCommand` fault point."""

    def __init__(self, mongo: MongoClient[dict[str, Any]]) -> None:
        self._mongo = mongo

    async def arm(self, commands: Sequence[str], mode: str | Mapping[str, Any] = "alwaysOn", **data: Any) -> None:
        """Make `commands` fail as `data` says."""
        detail = {"failCommands": list(commands), "failInternalCommands": False, **data}
        await in_thread(self._mongo.admin.command, {"configureFailPoint": "failCommand", "mode": mode, "data": detail})

    async def disarm(self) -> None:
        """Make every command succeed again."""
        await in_thread(self._mongo.admin.command, {"configureFailPoint": "failCommand", "mode": "off"})


class People:
    """Two connections for each kind of request."""

    def __init__(self, load: Load, customer: str) -> None:
        self.load, self.customer = load, customer
        self.created: dict[str, str] = {}
        self.connections: dict[str, list[Connection]] = {}

    @classmethod
    async def of(cls, load: Load) -> People:
        """Create some customers to list, and open the connections."""
        must = load.admin.must
        made = await must("POST", f"{CRM}/customers", {"name": "known"})
        for n in range(30):
            await must("POST", f"{CRM}/customers", {"name": f"many {n}"})
        people = cls(load, made["id"])
        kinds = ("list", "record", "export", "dashboard", "create", "patch", "voucher", "login")
        people.connections = {kind: [Connection(load.ports[0], load.admin.token) for _ in range(2)] for kind in kinds}
        await people.ask()
        return people

    async def ask(self, times: int = 1) -> list[tuple[str, str, float]]:
        """Send all kinds of requests at once, on `times` connections each; return their kinds, outcomes and seconds."""
        asked = [
            self._one(kind, connection)
            for kind, connections in self.connections.items()
            for connection in connections[:times]
        ]
        return list(await asyncio.gather(*asked))

    async def _one(self, kind: str, connection: Connection) -> tuple[str, str, float]:
        method, path, body = await self._request(kind, connection)
        began = time.monotonic()  # a change is preceded by a request that reads the version, which does not count
        reply = await connection.call(method, path, body)
        if kind == "create":
            self.created[body["code"]] = reply.outcome
        return kind, reply.outcome, time.monotonic() - began

    async def _request(self, kind: str, connection: Connection) -> tuple[str, str, Any]:
        mark = self.load.number()
        if kind == "create":
            return "POST", f"{CRM}/customers", {"name": mark, "code": mark}
        if kind == "patch":
            reply = await connection.call("GET", f"{CRM}/customers/{self.customer}")
            version = reply.data["version"] if reply.outcome == "0" else 1
            return "PATCH", f"{CRM}/customers/{self.customer}", {"version": version, "remark": mark}
        if kind == "voucher":
            voucher = {"kind": "income", "account_id": self.load.accounts[0], "amount": "1.00", "counterparty": mark}
            return "POST", f"{FINANCE}/vouchers", voucher
        if kind == "login":
            return "POST", "/api/v1/auth/login", {"username": "admin", "password": ADMIN_PASSWORD}
        paths = {
            "list": f"{CRM}/customers?page_size=200",
            "record": f"{CRM}/customers/{self.customer}",
            "export": f"{CRM}/customers/export?format=csv",
            "dashboard": "/api/dashboard/sales-trend?days=40",
        }
        return "GET", paths[kind], None

    async def recover(self) -> float:
        """Send requests until all of them succeed, for 30 seconds at most, and return the seconds that this took."""
        began = time.monotonic()
        while time.monotonic() - began < 30:
            if all(outcome in ("0", "40902") for _, outcome, _ in await self.ask()):
                break
            await asyncio.sleep(0.2)
        return time.monotonic() - began

    def stored(self, uri: str) -> dict[str, int]:
        """Return how many creations had each outcome and count of records, as in `0 -> 1`."""
        with MongoClient[dict[str, Any]](uri) as mongo:
            counts = Counter(
                f"{outcome} -> {mongo.tradewind.crm_customers.count_documents({'code': code})}"
                for code, outcome in self.created.items()
            )
        return dict(counts)


def _is_sound(stored: Mapping[str, int]) -> bool:
    return all(key in ("0 -> 1", "50300 -> 0", "50300 -> 1") for key in stored)


def _odd(replies: Sequence[tuple[str, str, float]]) -> list[str]:
    return [
        f"{kind} {outcome} {seconds:.1f} s"
        for kind, outcome, seconds in replies
        if not (outcome in _EXPECTED or _is_broken_off(kind, outcome)) or seconds > _SECONDS
    ]


def _is_broken_off(kind: str, outcome: str) -> bool:
    """Return whether an export ended early, which no code can report: its status is sent before its rows are read."""
    return kind == "export" and outcome.endswith("IncompleteReadError in the middle of a response")


async def _hang(bench: Bench, driver: str, people: People, failpoint: Failpoint, pid: int) -> None:
    slowest, odd = 0.0, []
    with Liveness(people.load.ports[0], pid) as probe:
        for commands in _BLOCKED:
            await failpoint.arm(commands, blockConnection=True, blockTimeMS=12_000)
            replies = await people.ask(times=2)
            await failpoint.disarm()
            slowest = max(slowest, *(seconds for _, _, seconds in replies))
            odd += [f"{'+'.join(commands)}: {each}" for each in _odd(replies)]
            await people.recover()
        waits, echo = probe.result()
    figure = f"longest response {slowest:.1f} s {odd or ''}"
    bench.tell(
        NAME, f"{driver}: commands that hang for 12 s ({len(_BLOCKED)})", figure, "0 and 50300 within 8 s", not odd
    )
    bench.tell(
        NAME,
        f"{driver}: liveness meanwhile",
        f"slowest {waits.slowest_running_ms()} ms of its own, {waits.slowest_ms()} ms with the wait for a processor "
        f"(echo {echo.slowest_ms()} ms)",
        f"{LIVENESS_MS} ms of its own",
        waits.slowest_running_ms() <= LIVENESS_MS,
    )


async def _fail(bench: Bench, driver: str, people: People, failpoint: Failpoint) -> None:
    """Make each command fail with each code, always and once."""
    modes: tuple[tuple[str, str | Mapping[str, Any]], ...] = (("always", "alwaysOn"), ("once", {"times": 1}))
    for label, mode in modes:
        odd: dict[int, list[str]] = {}
        for code in CODES:
            for command in COMMANDS:
                await failpoint.arm([command], mode, errorCode=code)
                wrong = _odd(await people.ask())
                await failpoint.disarm()
                if wrong:
                    odd.setdefault(code, []).extend(f"{command}: {each}" for each in wrong)
        figure = f"{len(odd)} codes with other outcomes {odd or ''}"
        bench.tell(
            NAME,
            f"{driver}: {len(CODES)} codes x {len(COMMANDS)} commands, {label}",
            figure,
            _ONLY,
            not odd,
        )
    await people.recover()


async def _close(bench: Bench, driver: str, people: People, failpoint: Failpoint) -> None:
    odd, recovered = [], 0.0
    modes: tuple[str | Mapping[str, Any], ...] = ({"times": 1}, {"activationProbability": 0.4}, "alwaysOn")
    for command in COMMANDS:
        for mode in modes:
            await failpoint.arm([command], mode, closeConnection=True)
            odd += [f"{command}: {each}" for each in _odd(await people.ask(times=2))]
            await failpoint.disarm()
        recovered = max(recovered, await people.recover())
    figure = f"{len(odd)} other outcomes {odd[:5] or ''}, whole again within {recovered:.1f} s"
    bench.tell(NAME, f"{driver}: connections closed ({len(COMMANDS)} commands x 3)", figure, _ONLY, not odd)


async def _doubt(bench: Bench, driver: str, people: People, failpoint: Failpoint) -> None:
    odd = []
    for code in _WRITE_CONCERN:
        for command in ("insert", "findAndModify", "commitTransaction", "update"):
            await failpoint.arm([command], {"times": 3}, writeConcernError={"code": code, "errmsg": "planted"})
            odd += [f"{code} {command}: {each}" for each in _odd(await people.ask())]
            await failpoint.disarm()
    await people.recover()
    figure = f"{len(odd)} other outcomes {odd[:5] or ''}"
    bench.tell(NAME, f"{driver}: write-concern errors ({len(_WRITE_CONCERN)} codes x 4)", figure, _ONLY, not odd)


async def _rebuild(bench: Bench, driver: str, load: Load, mongo: MongoClient[dict[str, Any]]) -> None:
    """Drop and recreate every index of the customers while they are listed."""
    target = mongo.tradewind.crm_customers
    pattern = await in_thread(target.find_one, {"name": "known"})
    if pattern is None:
        raise RuntimeError("the pattern of the customers is not there")
    rows = [
        {**pattern, "_id": ObjectId(), "code": f"{load.mark}i{n}", "name": f"name {n}"}
        for n in range(bench.times(_ROWS))
    ]
    await in_thread(target.insert_many, rows)
    end = time.monotonic() + 10
    paths = (f"{CRM}/customers?page_size=200&page=40", f"{CRM}/customers?page_size=100&sort=name&page=60")
    outcomes: Counter[str] = Counter()

    async def read(path: str) -> None:
        connection = Connection(load.ports[0], load.admin.token)
        while time.monotonic() < end:
            outcomes[(await connection.call("GET", path)).outcome] += 1
        connection.drop()

    def rebuild() -> int:
        count = 0
        while time.monotonic() < end:
            for index in [index for index in target.list_indexes() if index["name"] != "_id_"]:
                options = {name: value for name, value in index.items() if name not in ("key", "v", "ns")}
                target.drop_index(index["name"])
                target.create_index(list(index["key"].items()), **options)
                count += 1
        return count

    rebuilding = asyncio.create_task(in_thread(rebuild))
    await asyncio.gather(*(read(path) for path in paths * 3))
    figure = f"{await rebuilding} indexes made anew, outcomes {dict(outcomes)}"
    bench.tell(
        NAME, f"{driver}: indexes made anew under readers", figure, "only 0 and 50300", set(outcomes) <= {"0", "50300"}
    )


async def _die_in_commit(bench: Bench, driver: str, load: Load, replica_set: ReplicaSet, pid: int) -> None:
    """Kill mongod while eight transactions wait for their commits."""
    accounts = []
    for n in range(8):
        account = {"code": f"{load.mark}x{n}", "name": "a", "type": "bank"}
        accounts.append((await load.admin.must("POST", f"{FINANCE}/accounts", account))["id"])
    people = [Connection(load.ports[0], load.admin.token) for _ in accounts]
    own, slowest = 0, 0
    for _ in range(bench.times(3)):
        with MongoClient[dict[str, Any]](replica_set.uri) as mongo:
            await Failpoint(mongo).arm(["commitTransaction"], blockConnection=True, blockTimeMS=3000)
        with Liveness(load.ports[0], pid) as probe:
            writing = [
                asyncio.create_task(
                    one.call("POST", f"{FINANCE}/vouchers", {"kind": "income", "account_id": account, "amount": "1.00"})
                )
                for one, account in zip(people, accounts, strict=True)
            ]
            await asyncio.sleep(1)
            await in_thread(replica_set.kill, replica_set.ports[0])
            await asyncio.gather(*writing)
            waits, _ = probe.result()
        own, slowest = max(own, waits.slowest_running_ms()), max(slowest, waits.slowest_ms())
        await in_thread(replica_set.start_member, replica_set.ports[0])
        await in_thread(replica_set.wait_for_primary)
        while (await load.admin.call("GET", f"{FINANCE}/accounts")).outcome != "0":
            await asyncio.sleep(0.3)
    bench.tell(
        NAME,
        f"{driver}: mongod dies while eight transactions commit",
        f"liveness slowest {own} ms of its own, {slowest} ms with the wait for a processor",
        f"{LIVENESS_MS} ms of its own",
        own <= LIVENESS_MS,
    )
