"""What `doctor` says of a sharded cluster. None can be started here, so a driver answers as a mongos does."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from handlers.data.database import Database
from plugins.boot.registry import freeze, load_plugins
from plugins.commands.diagnosis.database import check_sharding, may_be_sharded
from plugins.commands.diagnosis.findings import Finding

PLUGINS = load_plugins(())
pytestmark = pytest.mark.gen_test(timeout=30)


class Mongos:
    """Answers the commands of the check; `sharded` are the names of the collections on several shards."""

    def __init__(self, names: list[str], sharded: set[str], hello: Mapping[str, Any]) -> None:
        self._names, self._sharded, self._hello = names, sharded, hello

    async def command(self, command: Mapping[str, Any]) -> dict[str, Any]:
        if "hello" in command:
            return dict(self._hello)
        if "listCollections" in command:
            return {"cursor": {"firstBatch": [{"name": name} for name in self._names]}}
        return {"sharded": command["collStats"] in self._sharded}


async def found(sharded: set[str], **hello: Any) -> list[Finding]:
    collections = freeze(PLUGINS, check=False).collections
    driver = Mongos([*collections, "core_leases", "system.views"], sharded, {"msg": "isdbgrid", **hello})
    database = cast(Database, SimpleNamespace(driver=driver, collections=collections))
    return [one async for one in check_sharding(database)]


async def test_collections_with_unique_keys_and_those_of_the_core_may_not_be_sharded() -> None:
    collections = freeze(PLUGINS, check=False).collections
    unique = next(name for name, one in collections.items() if not may_be_sharded(one))
    free = next(name for name, one in collections.items() if may_be_sharded(one))
    findings = await found({unique, free, "core_leases"})
    assert [one.subject for one in findings if one.level == "error"] == sorted([unique, "core_leases"])
    (note,) = [one for one in findings if one.level == "note"]
    assert free in note.advice
    assert unique not in note.advice.split(", ")


async def test_a_replica_set_is_no_cluster() -> None:
    assert await found(set(), msg="") == []
