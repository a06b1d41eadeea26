"""Two servers over one `mongod`, at work, while the first of them and the `mongod` are killed; and what is found then.

A round kills the first server and, once everything that it left has been taken up, the `mongod`. People book, change
leads and refresh their tokens at the first server all the while; a handover, an upload and two transactions are under
way when it is killed.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tornado.httpclient import HTTPClientError

from config.database import Driver
from handlers.data.collection import new_id
from handlers.data.database import COUNTERS, Database
from handlers.data.history.history import CHANGES, total_changes
from plugins.commands.verify import differences
from plugins.crm.records import LEADS
from plugins.files.records import OBJECTS
from plugins.testing import Client, People, Reply, eventually, expect, unique
from tests.api.crm.sales import CONTRACTS, LEADS as LEADS_AT, contract
from tests.api.files.samples import BOUNDARY, RAR
from tests.api.finance.books import Books
from tests.api.inventory.goods import Goods
from tests.support.denials import ClientWithoutHooks
from tests.support.document_holder import holder
from tests.support.killable_site import Site, attempt, site_at
from tests.support.raw_http import connected, request
from tests.support.server_process import server_process
from tests.support.servers import refresh, state

PLUGINS = "auth,rbac,system,crm,inventory,finance,notification,files"
WRITERS, TABS = 4, 12
CHANGED, BOOKED = 80, 40  # what is written between two kills, and more
HANDED_OVER = 800
HALF = RAR + bytes(2 << 20)
_FIELDS = ("company", "remark")
_PATIENCE = 180.0  # a mongod that was killed replays what was written since its last checkpoint
Write = Callable[[int], Awaitable[Reply]]
Begin = Callable[[Client], Awaitable[Write]]
_months = itertools.count()


@dataclass
class Found:
    """What was found after the kills: of each round where it says so, else at the end."""

    history: list[str] = field(default_factory=list)  # faults
    differences: list[str] = field(default_factory=list)  # between ledgers and documents
    lost: set[str] = field(default_factory=set)  # the ids of documents that were acknowledged and are not stored
    acknowledged: int = 0
    moved_before: list[int] = field(default_factory=list)  # records of each handover, when its server was killed
    handovers: list[tuple[Any, ...]] = field(default_factory=list)  # of each: status, moved, stored, notices
    tokens: Counter[tuple[int, ...]] = field(default_factory=Counter)  # the codes that the last known token leads to
    uploads: list[tuple[bool, bool]] = field(default_factory=list)  # of each: left by the kill, gone after the start
    held: list[tuple[int, float]] = field(default_factory=list)  # code and seconds of changes to what was held


@dataclass
class Work:
    """The site, and what people have done there."""

    site: Site
    elsewhere: str
    admin: Client  # of the second server
    driver: Driver
    found: Found = field(default_factory=Found)
    seen: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)  # each acknowledged state of a lead
    booked: set[str] = field(default_factory=set)
    over: bool = False

    @property
    def here(self) -> Client:
        """The administrator at the first server."""
        return ClientWithoutHooks(self.site.url, self.admin.token)

    async def serves(self) -> None:
        """Wait until the first server serves."""
        await eventually(self.site.serves, seconds=_PATIENCE, every=0.1)

    async def more_is_written(self) -> None:
        """Wait until more leads were changed and more was booked, by far, than now."""
        changed, booked = len(self.seen) + CHANGED, len(self.booked) + BOOKED

        async def enough() -> bool:
            return len(self.seen) >= changed and len(self.booked) >= booked

        await eventually(enough, seconds=_PATIENCE)

    async def change_lead(self, number: int) -> None:
        """Change one lead again and again, also from the state that was read last before a kill."""
        chance, lead = random.Random(number), None
        while not self.over:
            try:
                lead = lead or expect(await self.here.get(f"{LEADS_AT}?q=writer-{number}"))["items"][0]
                given = {name: f"{chance.random()}" for name in chance.sample(_FIELDS, chance.randint(1, 2))}
                lead = expect(await self.here.patch(f"{LEADS_AT}/{lead['id']}", {"version": lead["version"], **given}))
                self.seen[lead["id"], lead["version"]] = lead
            except (AssertionError, HTTPClientError, OSError):
                lead = None
                await self.serves()

    async def book(self, begin: Begin) -> None:
        """Book documents, and others after a kill: those that a killed server was changing may still be locked."""
        while not self.over:
            with suppress(AssertionError, HTTPClientError, OSError):
                write = await begin(self.here)
                for number in itertools.count():
                    if self.over:
                        return
                    self.booked.add(expect(await write(number))["id"])
            await self.serves()


async def pays(client: Client) -> Write:
    """Book payments into a separate month."""
    books = await Books.fresh(client)
    years, month = divmod(next(_months), 12)

    async def pay(number: int) -> Reply:
        kind = "income" if number % 3 else "expense"
        return await books.book(kind, f"0.{number % 99 + 1:02}", day=f"{2025 - years}-{month + 1:02}-15")

    return pay


async def carries(client: Client) -> Write:
    """Move goods back and forth."""
    here = await Goods.stocked(client, 100)
    there = Goods(client, here.product_id, await here.warehouse())
    expect(await here.transfer(there.warehouse_id, 50))

    async def carry(number: int) -> Reply:
        source, target = (here, there) if number % 2 else (there, here)
        return await source.transfer(target.warehouse_id, "0.5")

    return carry


async def run(folder: Path, rounds: int) -> Found:
    """Kill the server and the `mongod` so often; return what is found."""
    settings = {"HANDOVER_RESUME_SECONDS": "0.5", "REFRESH_GRACE_SECONDS": "60"}
    async with site_at(folder, PLUGINS, **settings) as site, _second(site) as elsewhere:
        admin = await Client(elsewhere).log_in("admin")
        work = Work(site, elsewhere, admin, site.open_driver())
        for number in range(WRITERS):
            expect(await admin.post(LEADS_AT, {"name": f"writer-{number}", "phone": f"1380000000{number}"}))
        writers = [work.change_lead(number) for number in range(WRITERS)]
        writers += [work.book((pays, carries)[number % 2]) for number in range(WRITERS)]
        async with asyncio.TaskGroup() as writing:
            for writer in writers:
                writing.create_task(writer)
            for _ in range(rounds):
                await _kill_server(work)
                await work.more_is_written()
                await work.site.kill_mongod()
                await work.more_is_written()
            work.over = True
        await _look_at_what_was_written(work)
        await work.driver.close()
        return work.found


@asynccontextmanager
async def _second(site: Site) -> AsyncIterator[str]:
    """Another server of the site; its address."""
    async with server_process({**site.env, "TRADEWIND_PORT": "0"}, site.folder / "second") as server:
        yield await server.url()


async def _kill_server(work: Work) -> None:
    """Kill the first server while all kinds of work are under way there, and see what becomes of them."""
    lead = expect(await work.admin.post(LEADS_AT, {"name": unique("held")}))
    customer = (await contract(work.admin))["customer_id"]
    counters = await work.driver.find(COUNTERS, {"_id": {"$regex": "contract"}})
    sessions = [(await Client(work.site.url).log_in("admin")).session["refreshToken"] for _ in range(TABS)]
    uri, database = (work.site.env[f"TRADEWIND_MONGODB_{name}"] for name in ("URI", "DATABASE"))
    held = ((LEADS.name, lead["id"]), (COUNTERS, max(counter["_id"] for counter in counters)))
    with ExitStack() as holders:
        for collection, id in held:
            holders.enter_context(holder(uri, database, collection, id))
        # the handover last, as it does not take long
        async with _half_sent(work), _tabs(work, sessions), _handover(work) as look_at_handover:
            await work.site.kill()
    for change in (
        work.admin.patch(f"{LEADS_AT}/{lead['id']}", {"version": 1, "name": "free"}),
        work.admin.post(CONTRACTS, {"customer_id": customer, "name": "numbered", "amount": "1.00"}),
    ):
        began = time.monotonic()
        work.found.held.append(((await change).code, time.monotonic() - began))
    for token in sessions:
        work.found.tokens[await _codes_after(work.elsewhere, token)] += 1
    left = bool(_partial_files(work))
    await work.site.start()
    gone = await _comes_true(lambda: _nothing_is_left(work))
    work.found.uploads.append((left, gone))
    await look_at_handover()


@asynccontextmanager
async def _half_sent(work: Work) -> AsyncIterator[None]:
    """An upload of which half was sent, and a part is stored."""
    first = b'--%b\r\nContent-Disposition: form-data; name="file"; filename="a.rar"\r\n\r\n' % BOUNDARY.encode() + HALF
    headers = f"Authorization: Bearer {work.here.token}", f"Content-Type: multipart/form-data; boundary={BOUNDARY}"

    async def is_stored() -> bool:
        return bool(_partial_files(work))

    async with connected(work.site.url) as wire:
        await wire.send(request("POST /api/upload", *headers, f"Content-Length: {2 * len(first)}") + first)
        await eventually(is_stored)
        yield


def _partial_files(work: Work) -> list[Path]:
    return [path for path in (work.site.folder / "files").glob("[ap]*/**/*") if path.is_file()]


async def _nothing_is_left(work: Work) -> bool:
    return not _partial_files(work) and not await work.driver.count(OBJECTS.name, {})


async def _comes_true(condition: Callable[[], Awaitable[bool]]) -> bool:
    """Whether the condition comes true in time."""
    try:
        return bool(await eventually(condition))
    except AssertionError:
        return False


@asynccontextmanager
async def _tabs(work: Work, sessions: list[str]) -> AsyncIterator[None]:
    """Clients that refresh their tokens until the first server is killed; `sessions` are the last ones they know."""
    rotations = 0

    async def rotate(number: int) -> None:
        nonlocal rotations
        while (reply := await attempt(refresh(work.site.url, sessions[number]))) is not None:
            sessions[number] = expect(reply)["refreshToken"]
            rotations += 1

    async def under_way() -> bool:
        return rotations > 2 * len(sessions)

    rotating = [asyncio.create_task(rotate(number)) for number in range(len(sessions))]
    await eventually(under_way, seconds=_PATIENCE)
    yield
    await asyncio.gather(*rotating)


async def _codes_after(url: str, last_known: str) -> tuple[int, ...]:
    """The codes of two refreshes, of a request, and of what must be dead then: both tokens, and the session."""
    successor = await refresh(url, last_known)
    newest = await refresh(url, successor.data["refreshToken"])
    access = newest.data["accessToken"]
    asked = await state(url, access)
    dead = [(await refresh(url, token)).code for token in (last_known, newest.data["refreshToken"])]
    return (successor.code, newest.code, asked, *dead, await state(url, access))


@asynccontextmanager
async def _handover(work: Work) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """A handover that the first server is in the middle of; then what looks whether it was finished elsewhere."""
    people, found, at = People(work.admin), work.found, "/api/v1/system/users"
    leaver, receiver = await people.account(), await people.account()
    row = {**LEADS.defaults, "owner_id": leaver["id"], "creator_id": 1, "deleted": False, "version": 1}
    await work.driver.insert(LEADS.name, [{**row, "_id": new_id(), "name": f"{n}"} for n in range(HANDED_OVER)])
    asked = asyncio.create_task(attempt(work.here.post(f"{at}/{leaver['id']}/handover", {"to": receiver["id"]})))

    async def status(*wanted: str) -> Any:
        handover = expect(await work.admin.get(f"{at}/{leaver['id']}/holdings"))["handover"]
        return handover if handover and handover["items"] and handover["status"] in wanted else None

    async def look() -> None:
        with suppress(AssertionError):
            await eventually(lambda: status("finished", "failed"), seconds=_PATIENCE)
        done = await status("running", "finished", "failed")
        moved = {"owner_id": receiver["id"], "version": 2, "shared_with": [receiver["id"]]}
        told = {"user_id": receiver["id"], "kind": "handover"}
        counts = [await work.driver.count(*of) for of in ((LEADS.name, moved), ("notification_messages", told))]
        found.handovers.append((done["status"], [item["count"] for item in done["items"]], *counts))

    amid = await eventually(lambda: status("running"), seconds=_PATIENCE)
    found.moved_before.append(amid["items"][0]["count"])
    yield look
    await asked


async def _look_at_what_was_written(work: Work) -> None:
    found = work.found
    found.history = [fault async for fault in _faults_of_history(Database(work.driver, (LEADS, CHANGES)), work.seen)]
    found.differences = list(await differences(work.driver))
    stored = {
        str(row["_id"])
        for name in ("finance_vouchers", "inventory_transfers")
        for row in await work.driver.find(name, {}, fields=["_id"])
    }
    found.lost, found.acknowledged = work.booked - stored, len(work.booked)


async def _faults_of_history(database: Database, seen: dict[tuple[str, int], dict[str, Any]]) -> AsyncIterator[str]:
    """Where the changes of the leads lead elsewhere than to their states, or lack a state that was acknowledged."""
    rows = await database.driver.find(LEADS.name, {"name": {"$regex": "^writer-"}})
    if len(rows) != WRITERS:
        yield f"there are {len(rows)} leads"
    unknown = dict(seen)
    for row in rows:
        changes = await database.history.read(LEADS, row, 0, total_changes(row))
        if (versions := [change.version for change in changes]) != list(range(row["version"], 0, -1)):
            yield f"{row['name']} has changes of {versions}"
        now: dict[str, Any] = {}
        for change in reversed(changes):
            if {name: now.get(name) for name in change.before} != change.before:
                yield f"{row['name']} was {now} before {change}"
            now |= change.after
            known = unknown.pop((str(row["_id"]), change.version), now)
            if any(now.get(name) != known[name] for name in _FIELDS if name in known):
                yield f"{row['name']} was {now} and acknowledged as {known}"
        if any(now.get(name) != row.get(name) for name in LEADS.recorded):
            yield f"{row['name']} is {row} and by its changes {now}"
    if unknown:
        yield f"no change leads to {sorted(unknown)}"
