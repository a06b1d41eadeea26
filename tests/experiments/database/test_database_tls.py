"""A MongoDB that speaks TLS alone: every driver, by password and by X.509, and what does not get in."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dns.resolver
import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID
from pymongo import MongoClient

from config.database import DatabaseUnavailable, Driver, open_driver
from config.database.direct.driver import DirectDriver
from config.database.direct.target import target_of
from config.embedded.mongod import find_mongod
from config.settings import Settings
from plugins.boot.connect import check_connection
from plugins.boot.listen import StartError
from plugins.testing import Client, expect, serving
from tests.support.certificates import DAY, Authority, Files
from tests.support.replica_sets import free_ports

pytestmark = pytest.mark.gen_test(timeout=60)
NAME = "secured"
DRIVERS = ("direct", "motor", "pymongo")


@dataclass(frozen=True)
class Secured:
    """A mongod, and the files of its clients."""

    port: int
    authority: Authority
    client: Path
    ended: Path

    def uri(self, user: str = "ann:secret@", own: Path | None = None, **options: str) -> str:
        """An address with the certificate of a client."""
        given = {"tls": "true", "tlsCAFile": self.authority.certificate, "tlsCertificateKeyFile": own or self.client}
        joined = "&".join(f"{name}={value}" for name, value in {"replicaSet": "rs0", **given, **options}.items())
        return f"mongodb://{user}localhost:{self.port}/?{joined}"

    @property
    def by_certificate(self) -> str:
        """An address whose user is the subject of the certificate."""
        return self.uri("", authMechanism="MONGODB-X509", authSource="$external")


def subject(common: str, organisation: str) -> x509.Name:
    return x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation), x509.NameAttribute(NameOID.COMMON_NAME, common)]
    )


def in_one(files: Files) -> Path:
    """A file with a certificate and its key, as MongoDB wants it."""
    joined = files.certificate.with_suffix(".both")
    joined.write_bytes(files.certificate.read_bytes() + files.key.read_bytes())
    return joined


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    authority, (port,) = Authority(folder), free_ports(1)
    server = in_one(authority.issue("server", subject=subject("localhost", "Servers")))
    client = in_one(authority.issue("client", subject=subject("tradewind", "Clients")))
    ended = in_one(authority.issue("ended", begins=-2 * DAY, ends=-DAY, subject=subject("tradewind", "Clients")))
    key = folder / "members.key"
    key.write_text("A" * 64)
    key.chmod(0o600)
    (folder / "db").mkdir()
    options = {
        "dbpath": folder / "db",
        "port": port,
        "bind_ip": "127.0.0.1",
        "replSet": "rs0",
        "keyFile": key,
        "tlsMode": "requireTLS",
        "tlsCertificateKeyFile": server,
        "tlsCAFile": authority.certificate,
        "setParameter": "authenticationMechanisms=SCRAM-SHA-256,MONGODB-X509",
        "logpath": folder / "log",
    }
    command = [str(find_mongod()), "--nounixsocket", *(f"--{name}={value}" for name, value in options.items())]
    mongod = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        found = Secured(port, authority, client, ended)
        prepare(found)
        yield found
    finally:
        mongod.kill()
        mongod.wait()


def prepare(at: Secured) -> None:
    """Make a replica set of one member with two users: `ann`, and whoever has the certificate."""
    shown = {"tlsCAFile": str(at.authority.certificate), "tlsCertificateKeyFile": str(at.client)}
    options: dict[str, Any] = {"tls": True, "serverSelectionTimeoutMS": 30_000, **shown}
    with MongoClient("localhost", at.port, directConnection=True, **options) as outside:
        members = [{"_id": 0, "host": f"localhost:{at.port}"}]
        outside.admin.command("replSetInitiate", {"_id": "rs0", "members": members})
    with MongoClient("localhost", at.port, replicaSet="rs0", **options) as first:
        first.admin.command("createUser", "ann", pwd="secret", roles=["root"], mechanisms=["SCRAM-SHA-256"])
    with MongoClient(at.uri()) as root:
        roles = [{"role": role, "db": NAME} for role in ("readWrite", "dbAdmin")]
        root["$external"].command("createUser", "CN=tradewind,O=Clients", roles=roles)


@asynccontextmanager
async def opened(driver: str, uri: str, timeout_ms: int = 3000) -> AsyncIterator[Driver]:
    found = open_driver(driver, uri, NAME, timeout_ms)
    try:
        yield found
    finally:
        await found.close()


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("way", ["password", "certificate"])
async def test_every_driver_logs_in_over_tls(secured: Secured, driver: str, way: str) -> None:
    uri = secured.uri() if way == "password" else secured.by_certificate
    async with opened(driver, uri) as at:
        await at.insert("things", [{"_id": f"{driver} {way}"}])
        assert await at.find_one("things", {"_id": f"{driver} {way}"}) == {"_id": f"{driver} {way}"}

        async def work() -> None:
            await at.update_one("things", {"_id": f"{driver} {way}"}, {"$set": {"done": True}})

        await at.transaction(work)
        assert (await at.find("things", {"done": True, "_id": f"{driver} {way}"}, limit=5))[0]["done"]


@pytest.mark.parametrize("way", ["password", "certificate"])
async def test_the_fast_wire_itself_speaks_it(secured: Secured, way: str) -> None:
    async with opened("direct", secured.uri() if way == "password" else secured.by_certificate) as at:
        assert isinstance(at, DirectDriver)
        assert await at.count("things", {"none": 1}) == 0
        assert sum(at.connections().values()) == 1


async def test_the_service_runs_with_a_certificate_as_its_user(secured: Secured, tmp_path: Path) -> None:
    async with serving(secured.by_certificate, tmp_path, mongodb_database=NAME) as service:
        admin = await Client(service.url).log_in("admin")
        expect(await admin.call("GET", "/api/v1/auth/profile"))


async def test_a_server_of_another_authority_is_not_believed(secured: Secured, tmp_path: Path) -> None:
    other = Authority(tmp_path)
    async with opened("direct", secured.uri(tlsCAFile=str(other.certificate)), 1000) as at:
        with pytest.raises(DatabaseUnavailable):
            await at.find("things", {}, limit=1)
        assert sum(at.connections().values()) == 0


@pytest.mark.parametrize("driver", DRIVERS)
async def test_a_start_says_that_the_certificate_of_mongodb_is_not_accepted(
    secured: Secured, tmp_path: Path, driver: str
) -> None:
    uri = secured.uri(tlsCAFile=str(Authority(tmp_path).certificate))
    chosen: dict[str, Any] = {
        "mongodb_driver": driver,
        "mongodb_database": NAME,
        "mongodb_timeout_ms": 1000,
        "demo": True,
    }
    settings = Settings(_env_file=None, data_dir=tmp_path, **chosen)
    with pytest.raises(
        StartError, match=r"^The certificate of MongoDB is not accepted, .*: check it, and tlsCAFile in "
    ):
        await check_connection(settings, uri)


async def test_a_name_that_the_certificate_does_not_have_is_not_believed(secured: Secured) -> None:
    context = ssl.create_default_context(cafile=str(secured.authority.certificate))
    assert context.check_hostname
    target = target_of(secured.uri(), NAME)
    assert target is not None
    assert target.tls is not None
    assert (target.tls.check_hostname, target.tls.verify_mode) == (True, ssl.CERT_REQUIRED)


async def test_a_certificate_that_has_ended_does_not_get_in(secured: Secured, tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"TRADEWIND_MONGODB_URI: the certificate in \S+ended\.both ended on 2"):
        async with serving(secured.uri(own=secured.ended), tmp_path, mongodb_database=NAME, mongodb_timeout_ms=1000):
            pass


@pytest.mark.parametrize("driver", DRIVERS)
async def test_a_file_that_is_missing_is_a_sentence(secured: Secured, driver: str) -> None:
    with pytest.raises(ValueError, match=r"TRADEWIND_MONGODB_URI is not usable: .*none\.pem"):
        open_driver(driver, secured.uri(own=Path("/none.pem")), NAME, 1000)


async def test_mongodb_srv_is_looked_up_for_the_wire_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Host:
        port = 27018

        def __init__(self, name: str) -> None:
            self.target = self
            self._name = name

        def to_text(self, omit_final_dot: bool = False) -> str:
            return f"{self._name}.cluster.example.com{'' if omit_final_dot else '.'}"

    class Text:
        strings = (b"authSource=people&replicaSet=rs7",)

    def resolve(name: str, kind: str, **_: Any) -> list[Any]:
        assert name in ("cluster.example.com", "_mongodb._tcp.cluster.example.com")
        return [Host("one"), Host("two")] if kind == "SRV" else [Text()]

    monkeypatch.setattr(dns.resolver, "resolve", resolve)
    target = target_of("mongodb+srv://ann:secret@cluster.example.com/", NAME)
    assert target is not None
    assert sorted(target.hosts) == [("one.cluster.example.com", 27018), ("two.cluster.example.com", 27018)]
    assert (target.user, target.source, target.tls is not None) == ("ann", "people", True)


async def test_mongodb_srv_without_a_record_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*_: Any, **__: Any) -> list[Any]:
        raise dns.resolver.NXDOMAIN

    monkeypatch.setattr(dns.resolver, "resolve", resolve)
    with pytest.raises(ValueError, match="TRADEWIND_MONGODB_URI is not usable"):
        open_driver("direct", "mongodb+srv://cluster.example.com/", NAME, 1000)
