"""The command `tradewind new-plugin`: writes a package of one kind of record that loads, has a test, and can be extended.

The files are named as those of the built-in plugins: `records.py` has the collections and, at its end, their routes;
`plugin.py` is the table of contents.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from config.version import VERSION

NAME = re.compile(r"[a-z][a-z0-9]{1,30}")
FILES = {
    "pyproject.toml": """\
[project]
name = "tradewind-$plugin"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["tradewind>=$version"]

[project.entry-points."tradewind.plugins"]
$plugin = "tradewind_$plugin.plugin:plugin"

[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
packages = ["tradewind_$plugin"]

[tool.mypy]
strict = true
""",
    "tradewind_$plugin/__init__.py": '"""$Plugin: a plugin of Tradewind."""\n',
    "tradewind_$plugin/records.py": '''\
"""The records of $plugin, and their routes."""

from plugins.api import Collection, Message, Route, crud, text

$NOUNS = Collection(
    name="$plugin_$nouns",
    title="$Noun",
    noun=Message("$Noun", "$noun"),
    scoped=True,
    fields={"name": text(label=("名称", "Name"), required=True, max_length=200, sort="folded", search=True)},
)

ROUTES: tuple[Route, ...] = crud($NOUNS, at="/api/v1/$plugin/$nouns", resource="$plugin:$noun")
''',
    "tradewind_$plugin/plugin.py": '''\
"""$Plugin."""

from plugins.api import Menu, Message, Plugin
from tradewind_$plugin import records

plugin = Plugin(
    name="$plugin",
    title=Message("$Plugin", "$Plugin"),
    api=1,
    requires=("rbac",),
    collections=(records.$NOUNS,),
    routes=records.ROUTES,
    menus=(Menu("$plugin", Message("$Plugin", "$Plugin"), path="/$plugin", resource="$plugin:$noun"),),
)
''',
    "tests/conftest.py": '"""The fixtures of Tradewind."""\n\npytest_plugins = ["plugins.testing"]\n',
    "tests/test_$nouns.py": '''\
"""$Noun records over HTTP."""

from pathlib import Path

import pytest

from plugins.testing import Client, expect, load_plugins, serving
from tradewind_$plugin.plugin import plugin

pytestmark = pytest.mark.gen_test(timeout=30)


async def test_$a_noun_is_created_and_found(mongodb_uri: str, tmp_path: Path) -> None:
    async with serving(mongodb_uri, tmp_path, plugins=[*load_plugins(("rbac", "auth")), plugin]) as running:
        admin = await Client(running.url).log_in("admin")
        made = expect(await admin.post("/api/v1/$plugin/$nouns", {"name": "first"}))
        assert expect(await admin.get("/api/v1/$plugin/$nouns?q=first"))["items"] == [made]
''',
}
_PLUGIN, _TEST = "tradewind_$plugin/plugin.py", "tests/test_$nouns.py"
DASHBOARD = '''\
"""The dashboard of $plugin, live and in the caller's data scope: `GET /api/dashboard/$plugin-$nouns?months=12`."""

from plugins.api import Route, array, integer, obj, text
from plugins.api.reports import ByTime, Figures, summed
from plugins.dashboard.api import dashboard_routes
from tradewind_$plugin.records import $NOUNS

MONTH = {"month": text(nullable=False), "count": integer(nullable=False)}
# the $nouns that were created in each month; the dashboard adds the months without any
CREATED = Figures($NOUNS, {"count": 1}, by=ByTime("created_at", "month", moment=True))

DASHBOARDS = (summed("$plugin-$nouns", CREATED),)

ROUTES: tuple[Route, ...] = (
    *dashboard_routes(
        "GET /api/dashboard/$plugin-$nouns",
        summary="Show the $nouns by month",
        access="dashboard:chart:$plugin-$nouns",
        query={"months": integer(label=("月数", "Months"), minimum=1, maximum=36, default=12, nullable=False, example=12)},
        returns={"items": array(obj("$NounMonth", MONTH, nullable=False), nullable=False)},
    ),
)
'''
# file → the replacements that a dashboard makes in it
_CHANGES = {
    _PLUGIN: (
        ("import records", "import dashboards, records"),
        ('requires=("rbac",)', 'requires=("rbac", "dashboard")'),
        ("routes=records.ROUTES", "routes=(*records.ROUTES, *dashboards.ROUTES)"),
        (
            "    menus=",
            "    dashboards=dashboards.DASHBOARDS,\n"
            '    permissions={"dashboard:chart:$plugin-$nouns": Message("$Noun：按月", "$Noun by month")},\n'
            "    menus=",
        ),
    ),
    _TEST: (
        ('("rbac", "auth")', '("rbac", "auth", "dashboard")'),
        (
            '["items"] == [made]\n',
            """["items"] == [made]
        months = expect(await admin.get("/api/dashboard/$plugin-$nouns?months=2"))["items"]
        assert [month["count"] for month in months] == [0, 1]
        cell = f"items.{months[1]['month']}.count"
        rows = expect(await admin.get(f"/api/dashboard/$plugin-$nouns/rows?months=2&cell={cell}"))
        assert [row["id"] for row in rows["items"]] == [made["id"]]
""",
        ),
    ),
}
_EPILOG = """\
examples:
  {program} harbour berth
  {program} harbour berth --dashboard --into ~/plugins

exit codes: 0 written; 2 a name or the folder will not do
"""
# by whether it is the command of a checkout, whose environment has all of Tradewind but no package of it
NEXT = {
    False: """\
{folder} is written; its Chinese texts wait for a translation. From here:
  pip install -e {folder}
  tradewind check {plugin}      # what does not fit together, in sentences
  TRADEWIND_DEMO=true TRADEWIND_PLUGINS=+{plugin} tradewind serve      # beside all built-in plugins
  python -m pytest {folder}/tests      # needs pip install 'tradewind[test]'
  cd {folder} && python -m mypy tradewind_{plugin} tests      # needs pip install mypy""",
    True: """\
{folder} is written; its Chinese texts wait for a translation. From here:
  .venv/bin/python -m pip install --no-deps -e {folder}
  scripts/check {plugin}      # what does not fit together, in sentences
  TRADEWIND_PLUGINS=+{plugin} scripts/server      # beside all built-in plugins
  scripts/test {folder}/tests""",
}


def main(arguments: Sequence[str], program: str = "tradewind new-plugin") -> int:
    """Write the files; return 0, or 2 after printing why a name or the folder cannot be used."""
    parser = argparse.ArgumentParser(
        prog=program,
        description="Writes a package of one kind of record that loads, is tested and waits to be filled.",
        epilog=_EPILOG.format(program=program),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("plugin", help="its name: small letters and digits, such as harbour")
    parser.add_argument("noun", help="what it keeps, in the singular, such as berth")
    parser.add_argument("--into", type=Path, default=Path(), help="where its folder goes (default: here)")
    parser.add_argument("--dashboard", action="store_true", help="with a live dashboard of what it keeps")
    given = parser.parse_args(arguments)
    folder: Path = given.into / given.plugin
    problem = next(
        (
            f"{name!r} is no name: small letters and digits"
            for name in (given.plugin, given.noun)
            if not NAME.fullmatch(name)
        ),
        f"{folder} is there already" if folder.exists() else None,
    )
    if problem:
        print(f"new-plugin: {problem}", file=sys.stderr)
        return 2
    for name, text in (with_dashboard() if given.dashboard else FILES).items():
        path = folder / filled(name, given.plugin, given.noun)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(text, given.plugin, given.noun), "utf-8")
    print(NEXT[program.startswith("scripts/")].format(folder=folder, plugin=given.plugin))
    return 0


def with_dashboard() -> dict[str, str]:
    """Return the files of a plugin that has a dashboard."""
    files = {**FILES, "tradewind_$plugin/dashboards.py": DASHBOARD}
    for name, changes in _CHANGES.items():
        for before, after in changes:
            files[name] = files[name].replace(before, after)
    return files


def filled(text: str, plugin: str, noun: str) -> str:
    """Return the template with the names filled in."""
    nouns = f"{noun[:-1]}ies" if re.search("[^aeiou]y$", noun) else f"{noun}s"
    places = {
        "$version": VERSION.rpartition(".")[0],
        "$a_noun": f"{'an' if noun[0] in 'aeio' else 'a'}_{noun}",
        "$plugin": plugin,
        "$Plugin": plugin.title(),
        "$NOUNS": nouns.upper(),
        "$nouns": nouns,
        "$noun": noun,
        "$Noun": noun.title(),
    }
    return re.sub("|".join(map(re.escape, sorted(places, reverse=True))), lambda found: places[found.group()], text)
