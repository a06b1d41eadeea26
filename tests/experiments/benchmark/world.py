"""The data set of the benchmark: a company of 295 departments, 2,000 users, their customers and payments; made once."""

from __future__ import annotations

import json
import random
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import bcrypt
from bson import Decimal128, ObjectId
from pymongo import MongoClient
from pymongo.database import Database

from handlers.data.visible.responsible import new_fields
from plugins.crm.contract_records import PAYMENTS
from plugins.crm.duplicates import derive_keys
from plugins.crm.ownership import build_sharing
from plugins.crm.records import CUSTOMERS
from plugins.rbac.records import USERS
from tests.experiments.benchmark.servers import DATABASE, RECORDS

DIVISIONS, REGIONS, TEAMS = 6, 6, 7
PEOPLE = 2000
PASSWORD = "Bench-world-2026"
GRANTED = (
    "bench:ping:list",
    "bench:record:create",
    "crm:customer:list",
    "crm:customer:read",
    "crm:customer:create",
    "dashboard:chart:sales-trend",
)
_BATCH = 2000
_WORDS = (
    "晨光",
    "远景",
    "华东",
    "蓝海",
    "金桥",
    "天成",
    "海纳",
    "新元",
    "明德",
    "长河",
    "同创",
    "星图",
    "云帆",
    "卓越",
)
_TRADES = ("科技", "贸易", "制造", "物流", "医药", "能源", "建材", "食品", "机械", "电子")
_INDUSTRIES = ("manufacturing", "retail", "logistics", "health", "energy", "software")
Row = dict[str, Any]


class Api:
    """A client of Tradewind's API, for an administrator."""

    def __init__(self, port: int) -> None:
        self._base = f"http://127.0.0.1:{port}"
        self.token = ""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request, and return the data of the response. Raises `HTTPError` if it is refused."""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        sent = json.dumps(body).encode() if body is not None else None
        with urlopen(Request(self._base + path, sent, headers, method=method)) as response:
            return json.load(response)["data"]

    def log_in(self, username: str, password: str) -> str:
        """Log in, and return an access token."""
        given = {"username": username, "password": password}
        token: str = self.call("POST", "/api/v1/auth/login", given)["accessToken"]
        return token


def make_world(port: int, uri: str, admin_password: str, customers: int, payments: int | None = None) -> Row:
    """Fill a new database through the server at `port` and, in bulk, directly; return what later runs need to know.

    There are four payments for every five customers, unless `payments` is given.
    """
    api = Api(port)
    api.token = api.log_in("admin", admin_password)
    divisions, regions, departments = _departments(api)
    world: Row = {"people": _people(api, divisions, regions, departments), "departments": len(departments)}
    with MongoClient[Row](uri) as client:
        database = client[DATABASE]
        users = _users(database, departments)
        with unindexed(database, CUSTOMERS.name):
            made = _customers(database, users, customers)
        make_payments(database, made, customers * 4 // 5 if payments is None else payments)
    world |= {
        "customers": customers,
        "customer": {name: str(_one(made, places)) for name, places in (("region", regions[0]), ("all", departments))},
        "hash": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(12)).decode(),
        "customer_fields": [name for name, field in CUSTOMERS.all_fields.items() if not field.write_only],
        "record_fields": [name for name, field in RECORDS.all_fields.items() if not field.write_only],
        "admin_password": admin_password,
    }
    return world


def _departments(api: Api) -> tuple[list[list[int]], list[list[int]], list[int]]:
    """Create the departments; return those of each division, those of each region, and all of them."""

    def make(name: str, parent: int | None) -> int:
        return int(api.call("POST", "/api/v1/system/departments", {"name": name, "parent_id": parent})["id"])

    root, divisions, regions = make("Company", None), [], []
    everything = [root]
    for division in range(DIVISIONS):
        at_division = make(f"Division {division}", root)
        below = [at_division]
        for region in range(REGIONS):
            at_region = make(f"Region {division}.{region}", at_division)
            teams = [make(f"Team {division}.{region}.{team}", at_region) for team in range(TEAMS)]
            regions.append([at_region, *teams])
            below += [at_region, *teams]
        divisions.append(below)
        everything += below
    return divisions, regions, everything


def _people(
    api: Api, divisions: Sequence[Sequence[int]], regions: Sequence[Sequence[int]], departments: Sequence[int]
) -> dict[str, list[str]]:
    """Create the people who send requests: directors, managers of divisions and of regions; they own no rows."""
    waiting, menus = list(api.call("GET", "/api/v1/system/menus/all")), []
    while waiting:
        menu = waiting.pop()
        waiting += menu["children"]
        menus += [menu["id"]] if menu["permission"] in GRANTED else []
    roles = {}
    for scope in ("all", "department_and_below"):
        body = {"code": f"bench-{scope}".replace("_", "-"), "name": scope, "data_scope": scope, "menu_ids": menus}
        roles[scope] = api.call("POST", "/api/v1/system/roles", body)["id"]
    kinds = {
        "director": ("all", [departments[0]] * 8),
        "division": ("department_and_below", [below[0] for below in divisions]),
        "region": ("department_and_below", [below[0] for below in regions[:: len(regions) // 5][:5]]),
    }
    people: dict[str, list[str]] = {}
    for kind, (scope, places) in kinds.items():
        for number, place in enumerate(places):
            username = f"{kind}-{number}"
            api.call(
                "POST",
                "/api/v1/system/users",
                {
                    "username": username,
                    "password": PASSWORD,
                    "role_ids": [roles[scope]],
                    "department_id": place,
                    "must_change_password": False,
                },
            )
            people.setdefault(kind, []).append(username)
    return people


def audited(creator: int, department: int, at: datetime) -> Row:
    """Return the fields that every record has besides its own."""
    return {
        "version": 1,
        "creator_id": creator,
        "creator_department_id": department,
        "created_at": at,
        "updated_at": at,
        "updater_id": creator,
        "deleted": False,
    }


def _users(database: Database[Row], departments: Sequence[int]) -> list[tuple[int, int]]:
    """Insert the users who created the records, and return their ids and departments."""
    now = datetime.now(UTC)
    users = [(10_000 + number, departments[number % len(departments)]) for number in range(PEOPLE)]
    database[USERS.name].insert_many(
        [
            {
                "_id": id,
                "username": f"user-{id}",
                "password_hash": None,
                "role_ids": [],
                "department_id": place,
                "status": "enabled",
                "is_super": False,
                "must_change_password": True,
                **USERS.derived({"username": f"user-{id}"}),
                **audited(1, departments[0], now),
            }
            for id, place in users
        ]
    )
    return users


def _customers(
    database: Database[Row], users: Sequence[tuple[int, int]], count: int
) -> list[tuple[ObjectId, int, int]]:
    """Insert the same number of customers for each user, and return their ids, creators and departments."""
    pick, now, made = random.Random(7), datetime.now(UTC), []
    for rows in batches(count):
        batch = []
        for number in rows:
            creator, department = users[number % len(users)]
            name = f"{pick.choice(_WORDS)}{pick.choice(_TRADES)}{number}"
            values = {
                "name": name,
                "code": f"C-{number:07}",
                "industry": pick.choice(_INDUSTRIES),
                "level": pick.choice("ABC"),
                "source": "referral",
                "phone": f"021-{number:08}",
                "email": f"office{number}@example.com",
                "address": "上海市浦东新区世纪大道1号",
                "owner_id": creator,
                "remark": "见面于年会",
            }
            at = now - timedelta(seconds=pick.randrange(1, 2 * 365 * 86_400), milliseconds=pick.randrange(1000))
            at = at.replace(microsecond=at.microsecond // 1000 * 1000)
            id = ObjectId()
            batch.append(
                {
                    **CUSTOMERS.defaults,
                    **values,
                    "_id": id,
                    "owned_since": at,
                    **derive_keys(values),
                    **build_sharing(creator, (), creator),
                    **new_fields(department, department),
                    **audited(creator, department, at),
                    **CUSTOMERS.derived(values),
                }
            )
            made.append((id, creator, department))
        database[CUSTOMERS.name].insert_many(batch, ordered=False)
    return made


def make_payments(database: Database[Row], customers: Sequence[tuple[ObjectId, int, int]], count: int) -> None:
    """Insert `count` payments of two years, for the customers in turn."""
    pick, now = random.Random(11), datetime.now(UTC)
    for rows in batches(count):
        batch = []
        for number in rows:
            customer, creator, department = customers[number % len(customers)]
            at = now - timedelta(seconds=pick.randrange(0, 2 * 365 * 86_400))
            batch.append(
                {
                    "_id": ObjectId(),
                    "contract_id": ObjectId(),
                    "customer_id": customer,
                    "plan_id": None,
                    "amount": Decimal128(f"{pick.randrange(100, 9_999_999) / 100:.2f}"),
                    "paid_at": at.replace(microsecond=0),
                    "method": "transfer",
                    "owner_id": creator,
                    **build_sharing(creator, (), creator),
                    **new_fields(department, department),
                    **audited(creator, department, at.replace(microsecond=0)),
                }
            )
        database[PAYMENTS.name].insert_many(batch, ordered=False)


@contextmanager
def unindexed(database: Database[Row], name: str) -> Iterator[None]:
    """Drop the indexes during the block, because documents are inserted several times as fast without them."""
    kept = [{key: one[key] for key in one if key != "v"} for one in database[name].list_indexes()]
    database[name].drop_indexes()
    yield
    database.command("createIndexes", name, indexes=kept)  # one scan builds all of them


def batches(count: int) -> Iterator[range]:
    """Yield the numbers below `count` in batches to insert at once."""
    for first in range(0, count, _BATCH):
        yield range(first, min(first + _BATCH, count))


def _one(customers: Sequence[tuple[ObjectId, int, int]], departments: Sequence[int]) -> ObjectId:
    return next(id for id, _, department in customers if department in departments)


def remembered(path: Path, customers: int) -> Row | None:
    """Return the data set that an earlier run has made, if it has this size."""
    if not path.exists():
        return None
    world: Row = json.loads(path.read_text())
    return world if world.get("customers") == customers else None


def remember(path: Path, world: Mapping[str, Any]) -> None:
    """Keep the data set's description for the next run, readable only by its owner."""
    path.touch(0o600)
    path.write_text(json.dumps(world))


def new_secret() -> str:
    """Return a signing key that every server of the benchmark shares."""
    return secrets.token_urlsafe(48)


def log_everybody_in(port: int, world: Mapping[str, Any]) -> dict[str, list[str]]:
    """Log everybody in, and return the access tokens by kind of person. Raises `RuntimeError` after a minute."""
    deadline = time.monotonic() + 60
    tokens: dict[str, list[str]] = {}
    for kind, usernames in world["people"].items():
        for username in usernames:
            if time.monotonic() > deadline:
                raise RuntimeError("log-ins take too long")
            tokens.setdefault(kind, []).append(Api(port).log_in(username, PASSWORD))
    return tokens
