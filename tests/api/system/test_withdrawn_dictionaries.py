"""A dictionary whose plugin is no longer loaded can be edited freely, and is declared again with the plugin."""

from dataclasses import replace

import pytest

from plugins.api import Dictionary, Message
from plugins.api.records import Item
from plugins.boot.runtime import Running
from plugins.system.declared_dictionaries import synchronise
from plugins.testing import Client, expect

pytestmark = pytest.mark.gen_test(timeout=30)
AT = "/api/v1/system/dictionaries"
SIZES = Dictionary(
    "acme_sizes", Message("尺寸", "Sizes"), (Item("S", Message("小", "Small")), Item("L", Message("大", "Large")))
)


async def test_a_withdrawn_dictionary_can_be_deleted_and_a_declared_one_comes_back(
    tradewind: Running, admin: Client
) -> None:
    without = tradewind.catalogue
    declared = replace(without, dictionaries=(*without.dictionaries, SIZES))
    await synchronise(tradewind.service.database, declared)
    record = expect(await admin.get(f"{AT}?types={SIZES.type}"))["items"][0]
    await synchronise(tradewind.service.database, without)
    expect(await admin.delete(f"{AT}/{record['id']}/items/S"))
    await synchronise(tradewind.service.database, declared)
    back = expect(await admin.get(f"{AT}/{record['id']}"))
    assert [item["value"] for item in back["items"]] == ["S", "L"]
    expect(await admin.delete(f"{AT}/{record['id']}"), 40901)
    await synchronise(tradewind.service.database, without)
    expect(await admin.delete(f"{AT}/{record['id']}"))
