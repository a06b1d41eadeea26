"""Two server processes on one database: what is changed through one is soon in force on the other (CONTRACT 5).

That it takes less than two seconds is measured by tests/experiments/system/test_two_servers_in_time.py.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import PASSWORD, Client, People, eventually, expect
from tests.support.denials import ClientWithoutHooks
from tests.support.server_process import PLUGINS, ServerProcess, environment, server_process

pytestmark = pytest.mark.gen_test(timeout=40)
LIMIT_SECONDS = 6.0  # changes that nobody tells of would be seen later, if at all
CUSTOMERS = "/api/v1/crm/customers"
SYSTEM = "/api/v1/system"
READING = ["crm:customer:list", "crm:customer:read"]


@dataclass(frozen=True)
class Pair:
    """Two processes; changes are made through the first by `admin` and looked at on the second."""

    first: ServerProcess
    second: ServerProcess
    admin: Client
    elsewhere: str

    def over_there(self, client: Client) -> Client:
        """The same person with the same token, asking the second process."""
        return Client(self.elsewhere, client.token, client.user)

    @property
    def people(self) -> People:
        """Makes people through the first process."""
        return People(self.admin)


@pytest.fixture(scope="module")
def pair(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("two")
    env = environment(mongodb_uri, folder, PLUGINS=f"{PLUGINS},inventory")
    stack = AsyncExitStack()

    async def begin() -> Pair:
        first, second = [
            await stack.enter_async_context(server_process(env, folder / name)) for name in ("first", "second")
        ]
        admin = await Client(await first.url()).log_in("admin")
        return Pair(first, second, admin, await second.url())

    yield io_loop.run_sync(begin)
    io_loop.run_sync(stack.aclose)


async def in_force(client: Client, path: str, code: int) -> None:
    """Wait until `client` gets `code`."""
    asking = ClientWithoutHooks(client.url, client.token)

    async def look() -> bool:
        return (await asking.get(path)).code == code

    await eventually(look, seconds=LIMIT_SECONDS)


async def test_a_grant_is_in_force_on_the_other(pair: Pair) -> None:
    role = await pair.people.role()
    account = await pair.people.account([role])
    there = pair.over_there(await pair.admin.log_in(account["username"]))
    expect(await there.get(CUSTOMERS), 40300)
    granted = [menu["id"] for menu in await pair.people.menus() if menu["permission"] in READING]
    expect(await pair.admin.put(f"{SYSTEM}/roles/{role}/menus", {"menu_ids": granted}))
    await in_force(there, CUSTOMERS, 0)


async def test_a_permission_that_is_taken_away_is_gone_on_the_other(pair: Pair) -> None:
    role = await pair.people.role(READING)
    account = await pair.people.account([role])
    there = pair.over_there(await pair.admin.log_in(account["username"]))
    expect(await there.get(CUSTOMERS))
    expect(await pair.admin.put(f"{SYSTEM}/roles/{role}/menus", {"menu_ids": []}))
    await in_force(there, CUSTOMERS, 40300)


async def test_a_role_that_is_disabled_grants_nothing_on_the_other(pair: Pair) -> None:
    role = await pair.people.role(READING)
    account = await pair.people.account([role])
    there = pair.over_there(await pair.admin.log_in(account["username"]))
    expect(await there.get(CUSTOMERS))
    version = expect(await pair.admin.get(f"{SYSTEM}/roles/{role}"))["version"]
    expect(await pair.admin.patch(f"{SYSTEM}/roles/{role}", {"version": version, "status": "disabled"}))
    await in_force(there, CUSTOMERS, 40300)


async def test_a_role_that_a_person_loses_is_lost_on_the_other(pair: Pair) -> None:
    account = await pair.people.account([await pair.people.role(READING)])
    there = pair.over_there(await pair.admin.log_in(account["username"]))
    expect(await there.get(CUSTOMERS))
    version = expect(await pair.admin.get(f"{SYSTEM}/users/{account['id']}"))["version"]
    expect(await pair.admin.patch(f"{SYSTEM}/users/{account['id']}", {"version": version, "role_ids": []}))
    await in_force(there, CUSTOMERS, 40300)


async def test_a_wider_data_scope_shows_its_rows_on_the_other(pair: Pair) -> None:
    role = await pair.people.role(READING, scope="self")
    account = await pair.people.account([role])
    made = expect(await pair.admin.post(CUSTOMERS, {"name": "somebody else's"}))
    there = pair.over_there(await pair.admin.log_in(account["username"]))
    expect(await there.get(f"{CUSTOMERS}/{made['id']}"), 40400)
    version = expect(await pair.admin.get(f"{SYSTEM}/roles/{role}"))["version"]
    expect(await pair.admin.patch(f"{SYSTEM}/roles/{role}", {"version": version, "data_scope": "all"}))
    await in_force(there, f"{CUSTOMERS}/{made['id']}", 0)


async def test_who_keeps_a_warehouse_alone_sees_its_stock_on_the_other(pair: Pair) -> None:
    at = "/api/v1/inventory"
    keeper, other = [await pair.people.person(["inventory:stock:list"]) for _ in range(2)]
    product = expect(await pair.admin.post(f"{at}/products", {"sku": "kept", "name": "x", "cost": "1.00"}))["id"]
    made = expect(await pair.admin.post(f"{at}/warehouses", {"code": "kept", "name": "x"}))
    counted = {"warehouse_id": made["id"], "lines": [{"product_id": product, "counted": "1"}]}
    expect(await pair.admin.post(f"{at}/stock-counts", counted))
    listed = f"{at}/stock?warehouse_id={made['id']}"

    async def total(client: Client) -> int:
        return int(expect(await pair.over_there(client).get(listed))["total"])

    assert (await total(keeper), await total(other)) == (1, 1)
    body = {"version": made["version"], "keeper_ids": [keeper.user["userId"]]}
    expect(await pair.admin.patch(f"{at}/warehouses/{made['id']}", body))

    async def withheld() -> bool:
        return await total(other) == 0

    assert await eventually(withheld, seconds=LIMIT_SECONDS)
    assert await total(keeper) == 1


async def test_a_value_that_a_dictionary_gets_is_accepted_on_the_other(pair: Pair) -> None:
    at = f"{SYSTEM}/dictionaries"
    there = Client(pair.elsewhere, pair.admin.token)
    lead = {"name": "lead", "source": "fair"}
    expect(await there.post("/api/v1/crm/leads", lead), 40001)
    dictionary = expect(await pair.admin.get(f"{at}?types=crm_lead_source"))["items"][0]["id"]
    expect(await pair.admin.post(f"{at}/{dictionary}/items", {"value": "fair", "label": "展销会"}))

    async def accepted() -> bool:
        return (await there.post("/api/v1/crm/leads", lead)).code == 0

    assert await eventually(accepted, seconds=LIMIT_SECONDS)


async def test_a_person_who_is_disabled_is_out_on_the_other(pair: Pair) -> None:
    account = await pair.people.account([await pair.people.role(READING)])
    there = pair.over_there(await pair.admin.log_in(account["username"]))
    expect(await there.get(CUSTOMERS))
    version = expect(await pair.admin.get(f"{SYSTEM}/users/{account['id']}"))["version"]
    expect(await pair.admin.patch(f"{SYSTEM}/users/{account['id']}", {"version": version, "status": "disabled"}))
    await in_force(there, CUSTOMERS, 40100)


async def test_somebody_who_logs_out_is_out_on_the_other(pair: Pair) -> None:
    here = await pair.people.person(READING)
    there = pair.over_there(here)
    expect(await there.get(CUSTOMERS))
    expect(await here.post("/api/v1/auth/logout"))
    await in_force(there, CUSTOMERS, 40100)


async def test_a_session_that_is_ended_from_another_device_is_dead_on_the_other(pair: Pair) -> None:
    lost = await pair.people.person(READING)
    kept = await pair.admin.log_in(lost.user["username"])
    there = pair.over_there(lost)
    expect(await there.get(CUSTOMERS))
    sessions = expect(await kept.get("/api/v1/auth/sessions?sort=created_at"))["items"]
    expect(await kept.delete(f"/api/v1/auth/sessions/{sessions[0]['id']}"))
    await in_force(there, CUSTOMERS, 40100)
    expect(await pair.over_there(kept).get(CUSTOMERS))


async def test_a_new_password_ends_every_session_on_the_other(pair: Pair) -> None:
    here = await pair.people.person(READING)
    there = pair.over_there(here)
    expect(await there.get(CUSTOMERS))
    expect(await here.put("/api/v1/auth/password", {"old_password": PASSWORD, "new_password": f"{PASSWORD}-new"}))
    await in_force(there, CUSTOMERS, 40100)


async def test_a_retried_write_at_the_other_is_the_same_write(pair: Pair) -> None:
    key = {"Idempotency-Key": "one-key-for-two-servers"}
    there = pair.over_there(pair.admin)
    replies = await asyncio.gather(
        *(client.post(CUSTOMERS, {"name": "one"}, headers=key) for client in (pair.admin, there) for _ in range(5))
    )
    assert len({reply.body for reply in replies}) == 1
    expect(replies[0])


async def test_two_processes_share_a_port(pair: Pair, tmp_path: Path) -> None:
    url = await pair.first.url()
    async with server_process(pair.first.env, tmp_path, "--port", url.rpartition(":")[2]) as third:
        assert await third.url() == url

        async def both_were_asked() -> bool:
            expect(await Client(url).get("/api/health", headers={"Connection": "close", "X-Request-ID": "shared-port"}))
            processes = (pair.first, third)
            return all("shared-port" in process.stdout for process in processes)

        await eventually(both_were_asked)
        assert await third.stop() == 0
    expect(await Client(url).get("/api/health"))


async def test_contracts_made_on_both_at_once_are_numbered_without_gap_or_duplicate(pair: Pair) -> None:
    of = expect(await pair.admin.post(CUSTOMERS, {"name": "晨光科技"}))["id"]
    body = {"customer_id": of, "name": "合同", "amount": "1.00"}
    clients = (pair.admin, pair.over_there(pair.admin))
    replies = await asyncio.gather(*(clients[n % 2].post("/api/v1/crm/contracts", body) for n in range(40)))
    numbers = sorted(int(expect(reply)["number"][-5:]) for reply in replies)
    assert numbers == list(range(numbers[0], numbers[0] + 40))


async def test_a_custom_field_is_there_and_gone_on_the_other(pair: Pair) -> None:
    labels = {"label": "在他处", "label_en": "Elsewhere"}
    body = {"collection": "crm_customers", "name": "elsewhere", "type": "integer", **labels, "filterable": True}
    there = pair.over_there(pair.admin)
    expect(await there.get(f"{CUSTOMERS}?x_elsewhere=1"), 40001)
    field = expect(await pair.admin.post(f"{SYSTEM}/custom-fields", body))
    await in_force(there, f"{CUSTOMERS}?x_elsewhere=1", 0)
    made = expect(await there.post(CUSTOMERS, {"name": "has it", "x_elsewhere": 1}))
    assert expect(await pair.admin.get(f"{CUSTOMERS}/{made['id']}"))["x_elsewhere"] == 1
    expect(await pair.admin.delete(f"{SYSTEM}/custom-fields/{field['id']}"))
    await in_force(there, f"{CUSTOMERS}?x_elsewhere=1", 40001)
