"""inventory and finance without each other, and without any other business plugin."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.registry import load_plugins
from plugins.testing import Client, expect, serving

pytestmark = pytest.mark.gen_test(timeout=60)


@pytest.mark.parametrize(("name", "path"), [("inventory", "inventory/stock"), ("finance", "finance/accounts")])
async def test_each_runs_without_the_other(name: str, path: str, mongodb_uri: str, tmp_path: Path) -> None:
    plugins = load_plugins(("auth", "rbac", name))
    assert {plugin.name for plugin in plugins} == {"auth", "rbac", name}
    async with serving(mongodb_uri, tmp_path, plugins, demo=True) as running:
        admin = await Client(running.url).log_in("admin")
        assert expect(await admin.get(f"/api/v1/{path}"))["total"] > 0
