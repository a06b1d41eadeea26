"""Webhooks lead outside only."""

import pytest

from plugins.testing import Client, expect, unique
from plugins.webhook.posting import is_outside, real_address

INSIDE = """
    127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 ::1 :: fe80::1%eth0
    fc00::1 ff02::1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a00:1 2002:7f00:1:: 2002:a00:1::
""".split()  # noqa: SIM905  a list literal has a line for each of them


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_is_known(address: str) -> None:
    assert not is_outside(real_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_an_address_outside_is_known(address: str) -> None:
    assert is_outside(real_address(address))


@pytest.mark.gen_test(timeout=30)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"])
async def test_the_service_is_not_led_into_its_own_network(admin_of_demo: Client, host: str) -> None:
    port = admin_of_demo.url.rpartition(":")[2]
    account = {"username": unique("erp"), "role_ids": []}
    reader = expect(await admin_of_demo.post("/api/v1/system/service-accounts", account))["id"]
    body = {"name": "inside", "url": f"http://{host}:{port}/api/health", "events": ["*"], "account_id": reader}
    made = expect(await admin_of_demo.post("/api/v1/system/webhooks", {**body, "status": "disabled"}))
    attempt = expect(await admin_of_demo.post(f"/api/v1/system/webhooks/{made['id']}/ping"))
    assert attempt["status"] is None
    assert "AddressRefused" in attempt["fault"]
    expect(await admin_of_demo.delete(f"/api/v1/system/webhooks/{made['id']}"))
