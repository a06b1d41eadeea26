"""A backup is read by tools that are not ours; one that others have made, changed or forged is refused; old ones restore."""

from __future__ import annotations

import errno
import gzip
import io
import json
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bson
import pyrage
import pytest
from bson.codec_options import CodecOptions
from bson.json_util import CANONICAL_JSON_OPTIONS, loads
from tornado.ioloop import IOLoop

from config.embedded import acquire
from plugins.commands.backups.encryption import Output, encrypting
from plugins.commands.backups.keys import Key
from plugins.commands.backups.progress import BackupError
from plugins.commands.restore import main
from plugins.files.records import OBJECTS
from plugins.rbac.records import USERS
from plugins.testing import Client
from tests.api.files.samples import PDF, PNG, upload
from tests.support.backup_place import KEY, Place, opened

pytestmark = pytest.mark.gen_test(timeout=60)
OLD = Path(__file__).parents[2] / "backups"
ODD = "test_odd/näme %41"
IDENTITY = pyrage.x25519.Identity.generate()


@pytest.fixture(scope="module")
def place(io_loop: IOLoop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("format")
    embedded = acquire(folder)
    block = opened(embedded, folder)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))
    embedded.release_and_wait(15)


@pytest.fixture(scope="module")
def plain(io_loop: IOLoop, place: Place) -> Path:
    """A backup without encryption, of a database that has a file too."""

    async def make() -> Path:
        await upload(await Client(place.server.url).log_in("admin"), PNG, "logo.png")
        return await place.backup("plain.backup")

    path: Path = io_loop.run_sync(make)
    return path


async def listed(place: Place, database: str, collection: str) -> dict[str, Any]:
    """The options and the indexes of a collection, by MongoDB."""
    async with place.database(database) as driver:
        collections = await driver.command({"listCollections": 1, "filter": {"name": collection}})
        indexes = await driver.command({"listIndexes": collection})
    (found,) = collections["cursor"]["firstBatch"]
    return {"options": found["options"], "uuid": found["info"]["uuid"], "indexes": indexes["cursor"]["firstBatch"]}


async def test_tar_sha256sum_and_bson_read_a_backup(place: Place, tmp_path: Path) -> None:
    stored = await upload(await Client(place.server.url).log_in("admin"), PDF, "contract.pdf")
    path = await place.backup("read.backup")
    subprocess.run(("tar", "--extract", "--gzip", "--file", path), cwd=tmp_path, check=True)
    subprocess.run(("sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"), cwd=tmp_path, check=True)
    folder = tmp_path / "dump" / "original"
    for name, told in json.loads((tmp_path / "manifest.json").read_text())["collections"].items():
        assert len(bson.decode_all((folder / f"{name}.bson").read_bytes())) == told["documents"]
    users = bson.decode_all((folder / f"{USERS.name}.bson").read_bytes(), CodecOptions(tz_aware=True))
    assert users == await place.driver.find(USERS.name, {})
    assert (tmp_path / "files" / "private" / stored["objectKey"]).read_bytes() == PDF
    assert "TRADEWIND_MONGODB_DATABASE='original'\n" in (tmp_path / "settings.env").read_text()


async def test_options_and_indexes_are_there_as_mongorestore_reads_them(place: Place) -> None:
    options = {"validator": {"amount": {"$gte": 0}}, "collation": {"locale": "zh"}}
    await place.driver.command({"create": ODD, **options})
    index = {"key": {"amount": -1}, "name": "some", "unique": True, "partialFilterExpression": {"amount": {"$gt": 2}}}
    await place.driver.command({"createIndexes": ODD, "indexes": [index]})
    try:
        path = await place.backup("metadata.backup")
        wanted = await listed(place, "original", ODD)
    finally:
        await place.driver.command({"drop": ODD})
    with tarfile.open(path) as tar:
        source = tar.extractfile("dump/original/test_odd%2Fn%C3%A4me%20%2541.metadata.json")
        assert source is not None
        text = source.read().decode()
    assert loads(text, json_options=CANONICAL_JSON_OPTIONS) == {
        **wanted,
        "uuid": wanted["uuid"].hex(),
        "collectionName": ODD,
        "type": "collection",
    }
    assert '"v": {"$numberInt": "2"}' in text
    await place.restore(path, "with-options")
    assert (await listed(place, "with-options", ODD))["options"] == wanted["options"]


def decrypted(path: Path, identity: str, folder: Path) -> bytes:
    """What age decrypts: the one of the operating system where there is one, which is written in Go."""
    if shutil.which("age") is None:
        return bytes(pyrage.decrypt(path.read_bytes(), [pyrage.x25519.Identity.from_str(identity.strip())]))
    (folder / "identity").write_text(identity)
    return subprocess.run(("age", "--decrypt", "-i", folder / "identity", path), capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    "key", [KEY, str(IDENTITY), str(IDENTITY.to_public())], ids=["secret", "identity", "recipient"]
)
async def test_an_age_decrypts_a_backup(place: Place, tmp_path: Path, key: str) -> None:
    path = await place.backup("for-age.backup", key)
    (tmp_path / "key").write_text(f"# created by age-keygen\n{IDENTITY}\n" if key != KEY else KEY)
    code, output = await place.command("backup", "--identity", "--key-file", str(tmp_path / "key"))
    assert code == 0, output
    with tarfile.open(fileobj=io.BytesIO(decrypted(path, output, tmp_path))) as tar:
        assert {"manifest.json", "settings.env", f"dump/original/{USERS.name}.bson", "SHA256SUMS"} <= {*tar.getnames()}
    assert main([str(path), "--list", "--key-file", str(tmp_path / "key")]) == 0


async def test_a_recipient_encrypts_and_does_not_decrypt(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = str(IDENTITY.to_public())
    path = await place.backup("for-a-recipient.backup", key)
    (tmp_path / "key").write_text(key)
    assert main([str(path), "--list", "--key-file", str(tmp_path / "key")]) == 1
    assert "The key is a recipient, which only encrypts" in capsys.readouterr().err


def test_a_mistyped_key_of_age_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "key").write_text(str(IDENTITY.to_public())[:-1] + "b")
    (tmp_path / "any.backup").touch()
    assert main([str(tmp_path / "any.backup"), "--list", "--key-file", str(tmp_path / "key")]) == 1
    assert "is no key of age" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "key"), [("v0.2.0", ""), ("v0.2.0-sealed", KEY)])
async def test_a_backup_in_the_format_of_old_versions_is_restored(place: Place, name: str, key: str) -> None:
    files = place.folder / "files"
    manifest = await place.restore(OLD / f"{name}.backup", name.replace(".", "-"))
    assert (manifest["version"], manifest["files"]["count"]) == ("0.2.0", 2)
    async with place.database(name.replace(".", "-")) as driver:
        assert [one["username"] for one in await driver.find(USERS.name, {})] == ["admin"]
        contents = {}
        for record in await driver.find(OBJECTS.name, {}):
            (found,) = files.glob(f"{record['visibility']}/*/{record['_id']}")
            contents[record["name"]] = found.read_bytes()
            found.unlink()
    assert contents == {"contract.pdf": PDF, "logo.png": PNG}


async def test_an_old_backup_that_was_cut_or_changed_is_refused_before_anything_is_written(place: Place) -> None:
    before, whole, path = await place.databases(), (OLD / "v0.2.0-sealed.backup").read_bytes(), place.folder / "old"
    for bad in (whole[:-9], whole[:9000] + bytes([whole[9000] ^ 1]) + whole[9001:], whole + b"x"):
        path.write_bytes(bad)
        with pytest.raises(BackupError, match="damaged"):
            await place.restore(path, "from-old")
    assert await place.databases() == before


async def test_what_is_left_to_the_tools_of_mongodb_is_a_sentence(place: Place) -> None:
    for command in (
        ("backup", str(place.folder), "--changes"),
        ("restore", "any.backup", "--until", "2026-01-31T12:30:00Z", "--into", "then"),
    ):
        code, output = await place.command(*command)
        assert (code, output.count("\n"), "is left to the tools of MongoDB" in output) == (1, 1, True), output
    code, output = await place.command("restore", str(OLD / "v0.2.0.changes"), "--list")
    assert (code, "has changes since a backup alone" in output) == (1, True), output


Change = Callable[[tarfile.TarInfo], None]


def renamed(name: str) -> Change:
    return lambda member: setattr(member, "name", name)


def of_type(kind: bytes) -> Change:
    def change(member: tarfile.TarInfo) -> None:
        member.type, member.size, member.linkname = kind, 0, "/etc/passwd"

    return change


def forge(source: Path, target: Path, change: Change) -> None:
    """Copy a backup, with another member in place of the first file; all hashes are right."""
    sums, changed = [], False
    with tarfile.open(source) as whole, tarfile.open(target, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for member in whole:
            content = whole.extractfile(member)
            data = content.read() if content else b""
            if member.name == "SHA256SUMS":
                data = "".join(sums).encode()
                member.size = len(data)
            elif member.name.startswith("files/") and not changed:
                changed = True
                change(member)
            sums.append(f"{sha256_of(data[: member.size])}  {member.name}\n")
            tar.addfile(member, io.BytesIO(data))
    assert changed


def sha256_of(data: bytes) -> str:
    done = subprocess.run("sha256sum", input=data, capture_output=True, check=True)
    return done.stdout.decode().split()[0]


STRANGE = {
    "a path upwards": renamed("files/private/../../escaped"),
    "an absolute path": renamed("/tmp/escaped"),
    "another storage": renamed(f"files/arriving/20260101-{'0' * 32}.txt"),
    "another name": renamed("files/private/escaped.txt"),
    "a file that no document names": renamed(f"files/private/20260101-{'0' * 32}.txt"),
    "a symbolic link": of_type(tarfile.SYMTYPE),
    "a hard link": of_type(tarfile.LNKTYPE),
    "a device": of_type(tarfile.CHRTYPE),
    "a pipe": of_type(tarfile.FIFOTYPE),
    "a folder": of_type(tarfile.DIRTYPE),
}


@pytest.mark.parametrize("change", STRANGE.values(), ids=STRANGE)
async def test_a_forged_backup_writes_nothing_elsewhere(place: Place, plain: Path, change: Change) -> None:
    forged = place.folder / "forged.backup"
    forge(plain, forged, change)
    files, databases = {*place.folder.glob("files/**/*")}, await place.databases()
    with pytest.raises(BackupError, match="is none that"):
        await place.restore(forged, "forged")
    assert {*place.folder.glob("files/**/*")} == files
    assert await place.databases() == databases


async def test_a_changed_document_is_found_by_its_hash(place: Place, plain: Path) -> None:
    whole = gzip.decompress(plain.read_bytes())
    path = place.folder / "changed.backup"
    path.write_bytes(gzip.compress(whole.replace(b"admin\0", b"nobod\0", 1)))
    with pytest.raises(BackupError, match="is damaged"):
        await place.restore(path, "changed")
    assert "changed" not in await place.databases()


async def test_a_header_that_tells_of_gigabytes_is_not_believed(place: Place) -> None:
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 4 << 30
    path = place.folder / "huge.backup"
    path.write_bytes(gzip.compress(header.tobuf() + bytes(4096)))
    with pytest.raises(BackupError, match="is none that"):
        await place.restore(path, "huge")


async def test_a_truncated_stored_file_is_reported_and_the_backup_is_complete(place: Place) -> None:
    stored = await upload(await Client(place.server.url).log_in("admin"), PDF * 10, "cut.pdf")
    (found,) = place.folder.glob(f"files/private/*/{stored['objectKey']}")
    found.write_bytes(PDF)
    folder = place.folder / "of-a-cut-file"
    code, output = await place.command("backup", str(folder), "--keep", "1", "--json")
    assert code == 0, output
    said = json.loads(output.splitlines()[0])
    assert said["files"]["damaged_keys"] == [stored["objectKey"]]
    assert main([said["file"], "--list"]) == 0
    found.unlink()


def test_the_identity_of_a_secret_stays_the_same() -> None:
    assert Key(KEY).identity == "AGE-SECRET-KEY-1K6DKPYPGVHWN0YCJMJ3CT8VZ8K2EVJUKDS8NA7LN6SMQUP4N4E3Q2RGYKF"


def test_a_full_disk_is_reported_as_such_behind_the_encryption() -> None:
    with (
        pytest.raises(OSError, match="No space left") as raised,
        open("/dev/full", "wb", buffering=0) as full,
        encrypting(Output(full), Key(KEY)) as target,
    ):
        target.write(bytes(1 << 20))
    assert raised.value.errno == errno.ENOSPC


async def test_a_backup_that_was_interrupted_behind_its_documents_is_incomplete(place: Place, plain: Path) -> None:
    whole, path = plain.read_bytes(), place.folder / "interrupted.backup"
    unpacker = zlib.decompressobj(wbits=31)
    unpacker.decompress(whole)
    path.write_bytes(whole[: -len(unpacker.unused_data)])  # all documents, and the end of a gzip stream
    with pytest.raises(BackupError, match="is incomplete"):
        await place.restore(path, "interrupted")
