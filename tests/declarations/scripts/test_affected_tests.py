"""`scripts/test --changed`: what a change affects is run, by imports and requirements, and little else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from scripts.affected_tests import EVERY, TIERS, Affected, affected_by, changed_files
from scripts.due_experiments import Experiment, due
from tests.experiments.deliberate_faults import FAULTS

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.usefixtures("no_collection")
EXPERIMENTS = ROOT / "tests" / "experiments"
SUBJECTS: list[Experiment] = json.loads((EXPERIMENTS / "subjects.json").read_text())


def of(*changed: str) -> Affected:
    return affected_by(ROOT, changed)


def test_a_plugin_runs_its_tests_those_of_declarations_for_it_and_no_other_plugins() -> None:
    found = of("plugins/crm/leads.py")
    assert found.paths >= {"tests/api/crm", EVERY, "tests/declarations"}
    assert found.plugins == {"crm"}
    assert not {path for path in found.paths if "finance" in path}


def test_what_a_plugin_offers_runs_the_tests_of_those_that_require_it() -> None:
    found = of("plugins/rbac/api.py")
    assert found.plugins >= {"rbac", "crm", "finance"}
    assert "tests/api/crm" in found.paths


def test_the_core_runs_its_own_tests_and_those_of_one_plugin() -> None:
    found = of("handlers/data/visible/scope.py")
    assert found.paths >= {"tests/api/handlers/data", "tests/api/crm", EVERY}
    assert found.plugins == {"crm"}


def test_a_command_runs_the_tests_of_commands_and_of_no_plugin() -> None:
    found = of("plugins/commands/diagnosis/storage.py")
    assert found.paths >= {"tests/declarations/commands"}
    assert found.plugins == set()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("tests/api/crm/test_leads.py", {"tests/api/crm/test_leads.py"}),
        ("tests/api/files/conftest.py", {"tests/api/files"}),
        ("tests/support/office.py", {"tests/api/every/test_every_list.py"}),
        ("pyproject.toml", set(TIERS)),
        ("plugins/console/nodes.py", {"tests/browser", "tests/api/console"}),
        ("examples/clinic/tradewind_clinic/plugin.py", {"tests/experiments/scripts/test_example.py"}),
        ("docs/reference/api.md", {"tests/declarations", "tests/system/test_readme.py"}),
    ],
)
def test_other_files_run_what_uses_them(changed: str, expected: set[str]) -> None:
    assert of(changed).paths >= expected


def test_files_that_are_new_changed_and_deleted_since_a_commit_are_found(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], cwd=tmp_path, check=True)

    git("init", "--quiet")
    for name in ("changed", "deleted", "same"):
        (tmp_path / name).write_text(name)
    git("add", ".")
    git("commit", "--quiet", "-m", "all")
    (tmp_path / "changed").write_text("otherwise")
    (tmp_path / "deleted").unlink()
    (tmp_path / "new").touch()
    assert changed_files(tmp_path, "HEAD") == ["changed", "deleted", "new"]


def test_every_experiment_has_a_subject_that_exists() -> None:
    named = [path for one in SUBJECTS for path in one["tests"]]
    there = {str(path.relative_to(EXPERIMENTS)) for path in EXPERIMENTS.rglob("test_*.py")}
    assert [path for path in there if not any(path == one or path.startswith(f"{one}/") for one in named)] == []
    assert [path for path in named if not (EXPERIMENTS / path).exists()] == []
    assert [path for one in SUBJECTS for path in one["subject"] if not (ROOT / path).exists()] == []


def test_every_deliberate_fault_is_put_into_code_that_is_there() -> None:
    assert [one for one in FAULTS if (ROOT / one["path"]).read_text().count(one["old"]) != 1] == []


def test_an_experiment_is_due_when_its_subject_has_changed_since_it_ran() -> None:
    def experiment(ran: str) -> Experiment:
        return {"tests": ["no-such-tests"], "subject": ["README.md"], "ran": ran}

    assert due([experiment("HEAD")]) == []
    assert due([experiment("no-such-commit")]) == ["tests/experiments/no-such-tests"]
    assert due([{**experiment("no-such-commit"), "subject": []}]) == []
