"""The users of the embedded database may do what their work needs, and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import OperationFailure

from config.embedded import Embedded, acquire
from config.embedded.folder import Folder
from config.embedded.replica_set import as_member

UNAUTHORISED = 13
OWN = "trade"
Client = MongoClient[dict[str, Any]]


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Embedded, Folder]]:
    """A database that a service uses."""
    folder = Folder(tmp_path_factory.mktemp("embedded") / "data")
    embedded = acquire(folder.path, 0.25, database=OWN)
    yield embedded, folder
    assert embedded.release_and_wait()
    shutil.rmtree(folder.path)


@pytest.fixture
def client(used: tuple[Embedded, Folder]) -> Iterator[Client]:
    """The service's client."""
    with Client(used[0].uri, timeoutMS=10_000) as client:
        yield client


def roles(folder: Folder, user: str = "tradewind") -> set[tuple[str, str]]:
    """The rights of a user."""
    record = folder.live_record()
    assert record is not None
    with as_member(folder, record.port) as member:
        (found,) = member.admin.command("usersInfo", user)["users"]
    return {(role["db"], role["role"]) for role in found["roles"]}


LEAST = {(OWN, "readWrite"), (OWN, "dbAdmin")}


def test_the_service_reads_and_writes_its_database_and_looks_after_its_indexes(client: Client) -> None:
    notes = client[OWN].notes
    with client.start_session() as session, session.start_transaction():
        notes.insert_one({"_id": 1, "name": "kept"}, session=session)
    name = notes.create_index("name")
    joined = notes.aggregate([{"$lookup": {"from": "others", "localField": "name", "foreignField": "_id", "as": "x"}}])
    assert [row["x"] for row in joined] == [[]]
    assert name in notes.index_information()
    notes.drop_index(name)
    assert "notes" in client[OWN].list_collection_names()
    assert client[OWN].command("collStats", "notes")["count"] == 1


def test_the_service_watches_changes(client: Client) -> None:
    with client[OWN].watch() as changes:
        client[OWN].watched.insert_one({"_id": 1})
        assert changes.next()["operationType"] == "insert"


def test_the_service_ends_sessions_of_its_own(client: Client, used: tuple[Embedded, Folder]) -> None:
    with Client(used[0].uri, timeoutMS=10_000) as other, other.start_session() as killed:
        killed.start_transaction()
        other[OWN].notes.insert_one({"_id": "of a killed process"}, session=killed)
        own = [{"$currentOp": {"allUsers": False, "idleSessions": True}}, {"$match": {"type": "idleSession"}}]
        seen = [row["lsid"]["id"] for row in client.admin.aggregate(own)]
        assert killed.session_id["id"] in seen
        client.admin.command("killSessions", [killed.session_id])
        with pytest.raises(OperationFailure) as gone:
            killed.commit_transaction()
        assert gone.value.has_error_label("TransientTransactionError")


FORBIDDEN: dict[str, Callable[[Client], Any]] = {
    "another database": lambda client: client.other.notes.find_one(),
    "writing another database": lambda client: client.other.notes.insert_one({}),
    "users": lambda client: client.admin.get_collection("system.users").find_one(),
    "the oplog": lambda client: client.local.get_collection("oplog.rs").find_one(),
    "a new user": lambda client: client.admin.command("createUser", "thief", pwd="x", roles=["root"]),
    "its own rights": lambda client: client.admin.command("grantRolesToUser", "tradewind", roles=["root"]),
    "its password": lambda client: client.admin.command("updateUser", "tradewind", pwd="x"),
    "shutting down": lambda client: client.admin.command("shutdown"),
    "stepping down": lambda client: client.admin.command("replSetStepDown", 1),
    "the replica set": lambda client: client.admin.command("replSetGetConfig"),
    "parameters": lambda client: client.admin.command({"setParameter": 1, "logLevel": 5}),
    "the log": lambda client: client.admin.command("getLog", "global"),
    "sessions of others": lambda client: client.admin.command("killAllSessions", []),
    "operations of others": lambda client: list(client.admin.aggregate([{"$currentOp": {"allUsers": True}}])),
    "the command line": lambda client: client.admin.command("getCmdLineOpts"),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_service_is_refused_what_is_none_of_its_business(what: str, client: Client) -> None:
    with pytest.raises(OperationFailure) as refused:
        FORBIDDEN[what](client)
    assert refused.value.code == UNAUTHORISED


def test_the_service_sees_only_its_own_database(client: Client) -> None:
    client[OWN].notes.insert_one({"_id": "there"})
    assert client.list_database_names() == [OWN]


def test_a_user_who_was_root_keeps_only_what_the_service_needs(used: tuple[Embedded, Folder]) -> None:
    embedded, folder = used
    record = folder.live_record()
    assert record is not None
    with Client(embedded.uri, timeoutMS=10_000) as connected:
        connected[OWN].notes.insert_one({"_id": "before"})
        with as_member(folder, record.port) as member:
            # as an earlier version made it
            member.admin.command("updateUser", "tradewind", roles=["root"], customData={})
        again = acquire(folder.path, 0.25, database=OWN)
        try:
            assert roles(folder) == LEAST
            assert again.uri == embedded.uri
            assert connected[OWN].notes.find_one({"_id": "before"})
            with pytest.raises(OperationFailure, match="not authorized"):
                connected.other.notes.find_one()
        finally:
            again.release()


def test_services_with_other_databases_in_one_folder_keep_theirs(used: tuple[Embedded, Folder]) -> None:
    _, folder = used
    second = acquire(folder.path, 0.25, database="second")
    try:
        assert roles(folder) == LEAST | {("second", "readWrite"), ("second", "dbAdmin")}
        with Client(second.uri, timeoutMS=10_000) as client:
            client.second.notes.insert_one({"_id": 1})
            assert client[OWN].notes.find_one() is not None
    finally:
        second.release()


def test_tests_and_measurements_have_a_user_of_their_own(used: tuple[Embedded, Folder]) -> None:
    _, folder = used
    before = roles(folder)
    tools = acquire(folder.path, 0.25)
    try:
        assert roles(folder) == before
        assert not {role for _, role in roles(folder, "tradewind-tools")} & {"root", "__system", "userAdminAnyDatabase"}
        with Client(tools.uri, timeoutMS=10_000) as client:
            client.anything.notes.insert_one({"_id": 1})
            assert client.admin.command("serverStatus")["ok"]
            with pytest.raises(OperationFailure, match="not authorized"):
                client.admin.command("createUser", "thief", pwd="x", roles=["root"])
    finally:
        tools.release()
