"""The Kubernetes manifests of docs/operations: every name, port, path and setting in them exists."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import pytest

from config.settings import Settings
from config.version import VERSION
from handlers.route import PUBLIC
from plugins.boot.registry import load_plugins
from tests.support.catalogue import CATALOGUE

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "operations" / "kubernetes"
KNOWN = {
    f"TRADEWIND_{name.upper()}": field
    for kind in (Settings, *(plugin.settings for plugin in load_plugins(()) if plugin.settings))
    for name, field in kind.model_fields.items()
}
ROOTS = re.search(r"uid (\d+)", (FOLDER.parents[2] / "Dockerfile").read_text())


def manifests(name: str) -> list[dict[str, Any]]:
    yaml: Any = importlib.import_module("yaml")  # it comes without types
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


def manifest(name: str) -> dict[str, Any]:
    (parsed,) = manifests(name)
    return parsed


def variables(name: str) -> dict[str, str]:
    """The lines of a file of settings."""
    lines = [line for line in (FOLDER / name).read_text().splitlines() if not line.startswith("#")]
    return {line.partition("=")[0]: line.partition("=")[2] for line in lines}


CONFIG = variables("config.env")
SECRETS = variables("secret.env.example")
POD = manifest("deployment.yaml")["spec"]["template"]["spec"]
CONTAINER = POD["containers"][0]


def test_every_setting_exists_and_takes_its_value() -> None:
    assert (CONFIG.keys() | SECRETS.keys()) - KNOWN.keys() == set()
    given = {name.removeprefix("TRADEWIND_").lower(): value for name, value in CONFIG.items()}
    Settings(
        **{name: value for name, value in given.items() if name in Settings.model_fields}, jwt_secret=token_urlsafe(48)
    )


def test_secrets_are_in_the_secret_alone() -> None:
    assert CONFIG.keys() & SECRETS.keys() == set()
    secret = {name for name, field in KNOWN.items() if "Secret" in str(field.annotation)}
    assert secret & CONFIG.keys() == set()
    assert {"TRADEWIND_MONGODB_URI", "TRADEWIND_JWT_SECRET"} <= SECRETS.keys()


def test_the_kustomization_lists_every_manifest() -> None:
    kustomization = manifest("kustomization.yaml")
    files = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(kustomization["resources"]) == files
    made = {one["name"]: one["envs"] for one in kustomization["configMapGenerator"]}
    assert made == {"tradewind": ["config.env"]}
    assert [image["name"] for image in kustomization["images"]] == [CONTAINER["image"]]
    sources = [reference["name"] for source in CONTAINER["envFrom"] for reference in source.values()]
    assert sources == ["tradewind", "tradewind"]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is missing: it has kustomize")
def test_kustomize_builds_what_refers_to_what_it_builds() -> None:
    yaml: Any = importlib.import_module("yaml")
    built = subprocess.run(["kubectl", "kustomize", str(FOLDER)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    made = {one["kind"]: one for one in yaml.safe_load_all(built.stdout)}
    usual = {"ConfigMap", "Deployment", "PodDisruptionBudget", "Service"}
    assert made.keys() == usual | {"CronJob", "Ingress", "NetworkPolicy", "PersistentVolumeClaim"}
    (container,) = made["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["envFrom"][0]["configMapRef"]["name"] == made["ConfigMap"]["metadata"]["name"] != "tradewind"
    assert container["image"] == f"registry.example.com/tradewind:{VERSION}"
    assert made["ConfigMap"]["data"] == CONFIG


def test_every_port_is_the_one_of_the_service() -> None:
    (port,) = CONTAINER["ports"]
    assert str(port["containerPort"]) == CONFIG["TRADEWIND_PORT"]
    probes = [CONTAINER[f"{kind}Probe"]["httpGet"]["port"] for kind in ("startup", "liveness", "readiness")]
    assert [*probes, manifest("service.yaml")["spec"]["ports"][0]["targetPort"]] == [port["name"]] * 4


def test_every_probe_asks_a_route_that_anybody_may_use() -> None:
    public = {route.path for route in CATALOGUE.routes if route.method == "GET" and route.access == PUBLIC}
    paths = [CONTAINER[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")]
    assert set(paths) <= public
    assert paths[2] == "/api/health/ready"


def test_a_pod_has_the_time_to_finish_its_requests() -> None:
    asleep = float(CONTAINER["lifecycle"]["preStop"]["exec"]["command"][1])
    draining = float(CONFIG["TRADEWIND_DRAIN_NOTICE_SECONDS"]) + float(CONFIG["TRADEWIND_DRAIN_SECONDS"])
    assert POD["terminationGracePeriodSeconds"] >= asleep + draining + 15
    # a probe sees that the pod is not ready before it accepts nothing more
    readiness = CONTAINER["readinessProbe"]
    assert float(CONFIG["TRADEWIND_DRAIN_NOTICE_SECONDS"]) >= readiness["periodSeconds"] * readiness["failureThreshold"]


def test_every_selector_finds_the_pods() -> None:
    labels = manifest("deployment.yaml")["spec"]["template"]["metadata"]["labels"]
    selectors = [
        manifest("deployment.yaml")["spec"]["selector"]["matchLabels"],
        manifest("service.yaml")["spec"]["selector"],
        manifest("poddisruptionbudget.yaml")["spec"]["selector"]["matchLabels"],
        manifest("networkpolicy.yaml")["spec"]["podSelector"]["matchLabels"],
        POD["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"],
    ]
    assert selectors == [labels] * 5


def test_the_tag_of_the_image_is_this_version() -> None:
    assert manifest("kustomization.yaml")["images"][0]["newTag"] == VERSION


def test_a_backup_is_taken_as_the_service_is_run() -> None:
    claim, job = manifests("backup.yaml")
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["command"][:4] == ["python", "-m", "plugins.commands", "backup"]
    for name in ("image", "envFrom", "securityContext"):
        assert container[name] == CONTAINER[name]
    assert pod["securityContext"] == POD["securityContext"]
    assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert container["command"][4] == container["volumeMounts"][0]["mountPath"]
    assert "TRADEWIND_BACKUP_KEY" in SECRETS


def test_the_ingress_leads_to_the_service() -> None:
    (path,) = manifest("ingress.yaml")["spec"]["rules"][0]["http"]["paths"]
    service = manifest("service.yaml")
    backend = path["backend"]["service"]
    assert (backend["name"], backend["port"]["name"]) == (
        service["metadata"]["name"],
        service["spec"]["ports"][0]["name"],
    )


def test_the_pod_is_confined_as_the_image_expects() -> None:
    assert ROOTS
    assert POD["securityContext"]["runAsUser"] == int(ROOTS[1])
    confined = CONTAINER["securityContext"]
    assert confined["readOnlyRootFilesystem"]
    assert not confined["allowPrivilegeEscalation"]
    assert confined["capabilities"] == {"drop": ["ALL"]}
    mounts = {mount["mountPath"] for mount in CONTAINER["volumeMounts"]}
    assert mounts == {"/tmp", CONFIG["TRADEWIND_DATA_DIR"]}
    assert {mount["name"] for mount in CONTAINER["volumeMounts"]} == {volume["name"] for volume in POD["volumes"]}
