"""The alerts and the dashboard: made from the code, about metrics that exist, with advice for each alert."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from plugins.testing import Client
from scripts.monitoring import ALERTS, PANELS, metrics_in, metrics_told, render_monitoring

pytestmark = pytest.mark.gen_test(timeout=30)
FOLDER = Path(__file__).resolve().parents[3] / "docs" / "operations"
PROMETHEUS_OWN = {"up"}


def test_the_files_are_those_of_the_code() -> None:
    assert {name: (FOLDER / name).read_text() for name in render_monitoring()} == render_monitoring()


async def test_alerts_and_panels_are_about_metrics_that_exist(anonymous: Client) -> None:
    await anonymous.get("/api/health")
    text = (await anonymous.get("/metrics")).body.decode()
    known = PROMETHEUS_OWN | metrics_told(text)
    asked = [alert.expression for alert in ALERTS] + [one for panel in PANELS for one in panel.queries.values()]
    assert {name for expression in asked for name in metrics_in(expression)} - known == set()


async def test_every_label_that_is_asked_for_exists(anonymous: Client) -> None:
    text = (await anonymous.get("/metrics")).body.decode()
    known = {"instance", "job", "process", "le", *re.findall(r"[{,]([a-z_]+)=", text)}
    asked = [alert.expression for alert in ALERTS] + [one for panel in PANELS for one in panel.queries.values()]
    grouped = {
        label.strip() for one in asked for part in re.findall(r"by \(([^)]*)\)", one) for label in part.split(",")
    }
    named = {label for panel in PANELS for legend in panel.queries for label in re.findall(r"\{\{(\w+)\}\}", legend)}
    assert (grouped | named) - known == set()


def test_every_alert_says_what_to_do() -> None:
    sections = re.split(r"^## ", (FOLDER / "alerts.md").read_text(), flags=re.MULTILINE)[1:]
    advice = {name: body for name, _, body in (section.partition("\n") for section in sections)}
    assert list(advice) == [alert.name for alert in ALERTS]
    assert [name for name, body in advice.items() if len(body) < 100] == []


def test_the_rules_are_yaml_that_prometheus_reads() -> None:
    (group,) = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
    assert [rule["alert"] for rule in group["rules"]] == [alert.name for alert in ALERTS]
    assert [rule["expr"] for rule in group["rules"]] == [alert.expression for alert in ALERTS]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is missing: apt-get install prometheus has it")
def test_promtool_finds_nothing_wrong_with_the_rules() -> None:
    checked = subprocess.run(
        ("promtool", "check", "rules", str(FOLDER / "alerts.yml")), capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_dashboard_has_every_panel_at_a_place_of_its_own() -> None:
    panels = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    assert [panel["title"] for panel in panels] == [panel.title for panel in PANELS]
    assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}) == len(PANELS)
