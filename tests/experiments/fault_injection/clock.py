"""Two servers on one database, the clock of one of them two hours ahead: tokens, keys, leases, publication."""

from __future__ import annotations

import asyncio
import glob
import secrets
import subprocess
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.experiments.fault_injection.clients import Connection
from tests.experiments.fault_injection.experiment import Bench, in_thread
from tests.experiments.fault_injection.load import FINANCE, Load
from tests.support.replica_sets import ADMIN_PASSWORD, ReplicaSet, Server, free_ports

NAME = "clock two hours ahead"


def library(folder: Path) -> Path | None:
    """Return the path of libfaketime, installed or unpacked from Debian's package, or None if neither is available."""
    pattern = "usr/lib/*/faketime/libfaketime.so.1"
    installed = glob.glob(f"/{pattern}")
    if not installed:
        try:
            subprocess.run(["apt-get", "download", "libfaketime"], cwd=folder, check=True, capture_output=True)
            [package] = folder.glob("libfaketime*.deb")
            subprocess.run(["dpkg", "-x", str(package), str(folder)], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError, ValueError):
            return None
        installed = glob.glob(str(folder / pattern))
    return Path(installed[0]) if installed else None


async def run(bench: Bench) -> None:
    """Use both servers as one person, then send twenty requests with the same idempotency key over both."""
    folder = bench.subfolder("clock")
    faketime = await in_thread(library, folder)
    if faketime is None:
        bench.tell(NAME, "run", "left out: no libfaketime")
        return
    replica_set = await in_thread(ReplicaSet(folder / "mongo", members=1, election_ms=2000).start)
    right_port, ahead_port = free_ports(2)
    right = Server(folder, "right", right_port, replica_set.uri, cms_publish_seconds="2")
    ahead = Server(folder, "ahead", ahead_port, replica_set.uri, cms_publish_seconds="2")
    ahead.env |= {"LD_PRELOAD": str(faketime), "FAKETIME": "+2h", "DONT_FAKE_MONOTONIC": "1"}
    ahead.env["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"
    try:
        await in_thread(right.start)
        async with Load([right_port], workers=0) as load:
            await in_thread(ahead.start)
            await _tell_tokens(bench, right, ahead)
            await _tell_twins(bench, load, ahead)
            await _tell_publication(bench, load)
            errors = [*right.errors(), *ahead.errors()]
            bench.tell(NAME, "log lines of level ERROR", len(errors), "0", not errors)
    finally:
        for server in (right, ahead):
            await in_thread(server.stop)
        await in_thread(replica_set.stop)


async def _tell_tokens(bench: Bench, right: Server, ahead: Server) -> None:
    """Use an access token of one server at the other, refresh it there, and use the new token at both."""
    first = await Connection(right.port).log_in("admin", ADMIN_PASSWORD)
    other = Connection(ahead.port, first.token)
    old = await other.call("GET", "/api/v1/auth/profile")
    bench.tell(
        NAME,
        "token of the right server at the one ahead",
        old.outcome,
        "0, or 40101 and a refresh",
        old.outcome in ("0", "40101"),
    )
    reply = await other.call("POST", "/api/v1/auth/refresh", {"refreshToken": first.refresh_token})
    bench.tell(NAME, "refresh at the one ahead", reply.outcome, "0", reply.outcome == "0")
    if reply.outcome == "0":
        first.token = other.token = reply.data["accessToken"]
        outcomes = [(await each.call("GET", "/api/v1/auth/profile")).outcome for each in (first, other)]
        bench.tell(NAME, "its token at both", outcomes, "0 and 0", outcomes == ["0", "0"])


async def _tell_twins(bench: Bench, load: Load, ahead: Server) -> None:
    second = await Connection(ahead.port).log_in("admin", ADMIN_PASSWORD)
    first = await Connection(load.ports[0]).log_in("admin", ADMIN_PASSWORD)
    voucher = {"kind": "income", "account_id": load.accounts[0], "amount": "1.00", "counterparty": load.number()}
    key = {"Idempotency-Key": secrets.token_hex(8)}
    people = [Connection(each.port, each.token) for n in range(10) for each in (first, second)]
    replies = await asyncio.gather(*(one.call("POST", f"{FINANCE}/vouchers", voucher, key) for one in people))
    ids = {reply.data["id"] for reply in replies if reply.outcome == "0"}
    outcomes = dict(Counter(reply.outcome for reply in replies))
    bench.tell(NAME, "20 twins of one key over both", f"{len(ids)} record, {outcomes}", "1 record", len(ids) == 1)


async def _tell_publication(bench: Bench, load: Load) -> None:
    """Schedule an article to be published in an hour, and report its status after a few seconds."""
    article = {"title": "later", "slug": f"later-{load.mark}", "content": "<p>x</p>"}
    made = await load.admin.must("POST", "/api/v1/cms/manage/articles", article)
    due = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    await load.admin.must("POST", f"/api/v1/cms/manage/articles/{made['id']}/publish", {"publish_at": due})
    await asyncio.sleep(8)
    stored = await load.admin.must("GET", f"/api/v1/cms/manage/articles/{made['id']}")
    bench.tell(NAME, "an article that is due in an hour", stored["status"])
