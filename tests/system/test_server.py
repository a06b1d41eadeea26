"""`python server.py`: what it says, how it stops (CONTRACT 12)."""

import asyncio
import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest
from tornado.ioloop import IOLoop

from config.database import open_driver
from plugins.testing import PASSWORD, Client, eventually, expect, unique
from tests.support.raw_http import connected, request
from tests.support.server_process import SECRET, ServerProcess, environment, server_process

pytestmark = pytest.mark.gen_test(timeout=40)
CUSTOMERS = "/api/v1/crm/customers"


@pytest.fixture(scope="module")
def shared(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server process for the tests that do not stop it."""
    folder = tmp_path_factory.mktemp("server")
    block = server_process(environment(mongodb_uri, folder), folder)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_it_says_ready_with_its_address_and_responds_there(shared: ServerProcess) -> None:
    line = await shared.said("ready")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", line["url"])
    assert expect(await Client(line["url"]).get("/api/health")) == {"status": "ok"}


async def test_everything_it_prints_is_a_json_line(shared: ServerProcess) -> None:
    await Client(await shared.url()).get("/api/nowhere")
    for line in shared.stdout.splitlines():
        assert {"time", "level", "logger", "message"} <= set(json.loads(line))
    assert shared.stderr == ""


async def test_the_line_of_a_request_tells_who_asked_for_what(shared: ServerProcess) -> None:
    admin = await Client(await shared.url()).log_in("admin")
    trace = unique("trace")
    await admin.get(f"{CUSTOMERS}?q=a", headers={"X-Request-ID": trace})

    async def logged() -> list[dict[str, object]]:
        return [line for line in shared.lines("request") if line["request_id"] == trace]

    (line,) = await eventually(logged)
    assert (line["method"], line["path"], line["route"]) == ("GET", CUSTOMERS, f"GET {CUSTOMERS}")
    assert (line["status"], line["code"], line["user_id"], line["address"]) == (200, 0, 1, "127.0.0.1")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(line["time"]))


async def secrets_of_a_busy_day(url: str) -> dict[str, str]:
    """Log-ins, refreshes and errors of every kind; returns every secret that was part of them."""
    anonymous, name = Client(url), unique("person")
    admin = await anonymous.log_in("admin")
    first, wrong, new = "First-secret-11", "Wrong-secret-22", "Newer-secret-33"
    made = expect(await admin.post("/api/v1/system/users", {"username": name, "password": first}))
    await anonymous.post("/api/v1/auth/login", {"username": name, "password": wrong})
    person = await anonymous.log_in(name, first)
    await person.put("/api/v1/auth/password", {"old_password": wrong, "new_password": new})
    await person.put("/api/v1/auth/password", {"old_password": first, "new_password": new, "Password": new})
    refreshed = expect(await anonymous.post("/api/v1/auth/refresh", {"refresh_token": person.session["refreshToken"]}))
    await anonymous.post("/api/v1/auth/refresh", {"refreshToken": refreshed["accessToken"]})
    await anonymous.post("/api/v1/auth/refresh", {"refreshToken": 5, "refresh_token": refreshed["refreshToken"]})
    reset = expect(await admin.post(f"/api/v1/system/users/{made['id']}/reset-password"))["password"]
    forged = jwt.encode({"user_id": 1}, "a key that is not the one of this service", "HS256")
    await Client(url, forged).get(f"/api/v1/auth/profile?token={forged}")
    await admin.get(f"/api/v1/auth/profile?access_token={admin.token}")
    await admin.patch(f"/api/v1/system/users/{made['id']}", {"version": 1, "password": wrong})
    await admin.post(CUSTOMERS, {"name": "a", "api_key": "Api-key-44", "nested": {"clientSecret": "Client-secret-55"}})
    return {
        "the administrator's password": PASSWORD,
        "a first password": first,
        "a wrong password": wrong,
        "a new password": new,
        "a password that was made up": reset,
        "the signing key": SECRET,
        "an access token": admin.token or "",
        "a refresh token": person.session["refreshToken"],
        "a refreshed token": refreshed["accessToken"],
        "the token that followed": refreshed["refreshToken"],
        "a forged token": forged,
        "a field named api_key": "Api-key-44",
        "a nested secret": "Client-secret-55",
    }


async def test_no_secret_is_in_any_log(shared: ServerProcess, mongodb_uri: str) -> None:
    url = await shared.url()
    secrets = await secrets_of_a_busy_day(url)
    secrets["the database's password"] = mongodb_uri.partition("@")[0].rpartition(":")[2]
    admin, trace = await Client(url).log_in("admin"), unique("trace")
    await admin.post(CUSTOMERS, {"name": "the last"}, headers={"X-Request-ID": trace})

    async def written() -> object:
        found = expect(await admin.get("/api/v1/system/operation-logs?page_size=200"))["items"]
        return found if trace in [row["request_id"] for row in found] and trace in shared.stdout else None

    operations = json.dumps(await eventually(written), ensure_ascii=False)
    for what, secret in secrets.items():
        # of a token its signature is what makes it one
        telling = secret.rpartition(".")[2]
        assert telling not in shared.stdout + shared.stderr, f"{what} is in the log"
        assert telling not in operations, f"{what} is in the operation log"


async def test_asked_to_stop_it_finishes_an_open_request_and_ends_with_0(mongodb_uri: str, tmp_path: Path) -> None:
    async with server_process(environment(mongodb_uri, tmp_path), tmp_path) as running:
        url = await running.url()
        body = json.dumps({"username": "admin", "password": PASSWORD}).encode()
        sent = request("POST /api/v1/auth/login", "Content-Type: application/json", body=body)
        async with connected(url) as wire:
            await wire.send(sent[:-10])

            async def is_open() -> bool:
                return b"tradewind_open_requests 2.0" in (await Client(url).get("/metrics")).body

            await eventually(is_open)
            running.process.send_signal(signal.SIGTERM)
            await running.said("stopping")
            with pytest.raises(ConnectionError):
                await Client(url).get("/api/health")
            await wire.send(sent[-10:])
            assert expect(await wire.reply())["userInfo"]["userId"] == 1
        assert await running.ended() == 0
        assert running.lines("stopped")
        assert running.stderr == ""


async def test_nothing_that_the_operation_log_accepted_is_lost_at_a_stop(mongodb_uri: str, tmp_path: Path) -> None:
    async with server_process(environment(mongodb_uri, tmp_path), tmp_path) as running:
        admin = await Client(await running.url()).log_in("admin")
        replies = await asyncio.gather(*(admin.post(CUSTOMERS, {"name": f"{n}"}) for n in range(40)))
        running.process.send_signal(signal.SIGTERM)
        made = {expect(reply)["id"] for reply in replies}
        assert await running.ended() == 0
    ids = {reply.headers["X-Request-ID"] for reply in replies}
    driver = open_driver("pymongo", mongodb_uri, running.env["TRADEWIND_MONGODB_DATABASE"], 5000)
    try:
        assert len(made) == await driver.count("crm_customers", {"name": {"$regex": "^[0-9]+$"}}) == 40
        assert ids <= {row["request_id"] for row in await driver.find("core_operation_logs", {})}
    finally:
        await driver.close()


async def test_a_made_up_password_is_printed_once_and_must_be_changed(mongodb_uri: str, tmp_path: Path) -> None:
    env = environment(mongodb_uri, tmp_path, ADMIN_PASSWORD="")
    async with server_process(env, tmp_path) as running:
        url = await running.url()
        (said,) = [line for line in running.stdout.splitlines() if line[:1] != "{"]
        found = re.search(r"admin with the password (\S+) and change it", said)
        assert found
        password = found.group(1)
        assert running.stdout.count(password) == 1
        admin = await Client(url).log_in("admin", password)
        assert admin.user["mustChangePassword"] is True
        expect(await admin.get(CUSTOMERS), 40301)
        expect(await admin.put("/api/v1/auth/password", {"old_password": password, "new_password": PASSWORD}))
        expect(await (await Client(url).log_in("admin")).get(CUSTOMERS))
        assert await running.stop(signal.SIGINT) == 0
    async with server_process(env, tmp_path / "again") as again:
        await again.url()
        assert [line for line in again.stdout.splitlines() if line[:1] != "{"] == []


UNKNOWN = {
    "TRADEWIND_TRUSTED_PROXY": "TRADEWIND_TRUSTED_PROXY is no setting and does nothing; did you mean TRADEWIND_TRUSTED_PROXIES?",
    "TRADEWIND_BCRYPT_COSTS": "TRADEWIND_BCRYPT_COSTS is no setting and does nothing; did you mean TRADEWIND_BCRYPT_COST?",
    "tradewind_mongo_url": "tradewind_mongo_url is no setting and does nothing; did you mean TRADEWIND_MONGODB_URI?",
    "TRADEWIND_QQ": "TRADEWIND_QQ is no setting and does nothing",
}
KNOWN = {"TRADEWIND_STORAGE": "local", "tradewind_port": "0", "TRADEWIND_VENV": "/venv", "TRADEWIND_TEST_SEED": "1"}


async def test_a_variable_that_no_setting_is_called_is_reported_with_the_nearest_name(
    mongodb_uri: str, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("TRADEWIND_PLUGIN=crm\nOTHER=1\n")
    env = environment(mongodb_uri, tmp_path) | dict.fromkeys(UNKNOWN, "hunter2") | KNOWN
    async with server_process(env, tmp_path) as running:
        await running.url()
        reported = {line["message"] for line in running.lines() if line["level"] == "WARNING"}
    in_file = "TRADEWIND_PLUGIN is no setting and does nothing; did you mean TRADEWIND_PLUGINS?"
    assert reported == {*UNKNOWN.values(), in_file}
    assert "hunter2" not in running.stdout
