"""Plugins that others write have pages which their users can work at: new ones, that of the README, and the example."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.console.site import Site
from plugins.plugin import Plugin
from plugins.testing import Client, People, expect, serving
from tests.browser.browser import Console, do
from tests.browser.menus import walk
from tests.browser.work import work_of
from tests.browser.working_day import labour
from tests.experiments.commands.test_new_plugin import written
from tests.support.readme import ROOT, plugin_of_the_readme

pytestmark = pytest.mark.gen_test(timeout=180)


async def worked_at(console: Console, running: Running, plugin: Plugin) -> tuple[Client, list[str]]:
    """Let somebody with no rights but those of a plugin do all that its pages offer; returns them, and what is English."""
    people = People(await Client(running.url).log_in("admin"))
    person = await people.person([route.access for route in plugin.routes], "all")
    codes, english = await walk(console, running.url, person, "zh")
    assert plugin.name in codes
    await do(console.visit, running.url, person)
    works = [*work_of(set(person.session["permissions"]), (plugin.name,), Site(running.catalogue))]
    assert [work.subject.collection for work in works] == [*plugin.collections]
    for work in works:
        assert work.changed
        assert work.deletes
        await do(labour, console, work, {})
    await do(console.check, plugin.name)
    return person, english


async def test_records_of_new_plugins_go_through_their_states_at_the_pages_of_their_users(
    console: Console, mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, of_readme = written(tmp_path, monkeypatch, "dock", "crane", "--dashboard"), plugin_of_the_readme()
    plugins = [*load_plugins(()), new, of_readme]
    async with serving(mongodb_uri, tmp_path, plugins=plugins) as running:
        person, english = await worked_at(console, running, new)
        (deleted,) = expect(await person.get("/api/v1/dock/cranes?deleted=true"))["items"]
        assert deleted["name"].startswith("other")
        assert expect(await person.get("/api/v1/dock/cranes"))["items"] == []
        # its own names, which were given in English
        assert [text for text in english if not {"Dock", "Crane"} & set(re.findall("[A-Za-z]+", text))] == []
        person, english = await worked_at(console, running, of_readme)
        (asked,) = expect(await person.get("/api/v1/harbour/berths"))["items"]
        assert (asked["name"][:5], asked["status"]) == ("other", "asked")
        assert len(expect(await person.get("/api/v1/harbour/berths?deleted=true"))["items"]) == 1
        assert english == []


async def test_the_pages_of_the_example_plugin_open_for_its_users(
    console: Console, mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples" / "clinic")
    clinic = importlib.import_module("tradewind_clinic.plugin").plugin
    async with serving(mongodb_uri, tmp_path, plugins=[*load_plugins(()), clinic]) as running:
        people = People(await Client(running.url).log_in("admin"))
        person = await people.person([route.access for route in clinic.routes], "all")
        codes, english = await walk(console, running.url, person, "zh")
        assert {"clinic.booking", "clinic.treatment"} <= set(codes)
        assert english == []
