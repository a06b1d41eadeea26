"""A dictionary whose plugin is no longer loaded becomes the administrators' own, and is declared again with it."""

from dataclasses import replace
from pathlib import Path

import pytest

from plugins.system.declared_dictionaries import synchronise
from plugins.testing import Client, expect, serving

pytestmark = pytest.mark.gen_test(timeout=30)
AT = "/api/v1/system/dictionaries"


async def test_a_withdrawn_dictionary_can_be_deleted_and_a_declared_one_comes_back(
    mongodb_uri: str, tmp_path: Path
) -> None:
    async with serving(mongodb_uri, tmp_path) as running:
        admin = await Client(running.url).log_in("admin")
        record = expect(await admin.get(f"{AT}?types=crm_customer_level"))["items"][0]
        catalogue = running.service.catalogue
        await synchronise(running.service.database, replace(catalogue, dictionaries=()))
        expect(await admin.delete(f"{AT}/{record['id']}/items/A"))
        await synchronise(running.service.database, catalogue)
        back = expect(await admin.get(f"{AT}/{record['id']}"))
        assert [item["value"] for item in back["items"]] == ["A", "B", "C"]
        expect(await admin.delete(f"{AT}/{record['id']}"), 40901)
