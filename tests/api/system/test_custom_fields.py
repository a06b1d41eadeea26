"""Fields that administrators add to records: every type goes through whatever a declared field goes through."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from plugins.testing import Client, expect, unique

pytestmark = pytest.mark.gen_test(timeout=30)
AT = "/api/v1/system/custom-fields"
CONTACTS = "/api/v1/crm/contacts"


@asynccontextmanager
async def field(admin: Client, type: str, **values: Any) -> AsyncIterator[dict[str, Any]]:
    name = unique("f").replace("-", "_").lower()
    body = {
        "collection": "crm_customers",
        "name": name,
        "label": f"字段{name}",
        "label_en": f"Field {name}",
        "type": type,
    }
    made = expect(await admin.post(AT, body | values))
    try:
        yield made
    finally:
        await admin.delete(f"{AT}/{made['id']}")


async def test_it(admin: Client) -> None:
    async with field(admin, "integer", filterable=True) as made:
        x = f"x_{made['name']}"
        print(made)
        c = expect(await admin.post("/api/v1/crm/customers", {"name": unique("c"), x: 7}))
        assert c[x] == 7
        print(expect(await admin.get(f"/api/v1/crm/customers?{x}=7&sort={x}"))["total"])
        print(await admin.post("/api/v1/crm/customers", {"name": unique("c"), x: "a"}))
        print((await admin.get("/api/v1/crm/customers/export?headers=labels")).body.decode().splitlines()[0])
        print(expect(await admin.get(f"/api/v1/crm/customers/{c['id']}/history")))
        print(expect(await admin.post(f"{AT}/{made['id']}/rehearse", {"required": True})))
