"""`record_types.py` of the plugins: up to date, and a type checker finds a misspelt field by it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from handlers.data.collection import Collection
from handlers.schema.fields import array, choice, integer, mapping, money, obj, text, timestamp
from plugins.boot.registry import load_plugins
from plugins.commands.typed_records import render, typed_records

ROOT = Path(__file__).resolve().parents[2]
READS = """\
from plugins.api import Collection, Request, Store, crud, text
from plugins.crm.contract_records import CONTRACTS

THINGS = Collection(name="acme_things", title="Thing", fields={"name": text()})


async def read(req: Request, store: Store, collection: Collection) -> None:
    contract = await req.store(CONTRACTS).get("1")
    contract["amount"].to_decimal()
    [one["amout"] for one in await req.service.database.store(CONTRACTS).find()]
    if contract["status"] == "complete":
        pass
    contract["signed_date"].upper()
    thing = await req.store(THINGS).get("1")
    thing["anything"] = 1
    crud(CONTRACTS, at="/", resource="")
"""


def test_the_types_are_those_of_the_collections() -> None:
    files = typed_records(load_plugins(()), "scripts/check --write")
    assert [path for path, text in files.items() if not path.is_file() or path.read_text() != text] == []


def test_a_type_checker_finds_a_misspelt_field_a_state_that_is_none_and_a_null(tmp_path: Path) -> None:
    """What has no types passes as before: a collection without them, and functions of any collection."""
    snippet = tmp_path / "reads.py"
    snippet.write_text(READS)
    # in the cache of the daily check, so that only the snippet is new
    command = (sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(snippet))
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    found = re.findall(r"reads\.py:(\d+): error: .*\[([\w-]+)\]", said)
    assert found == [("10", "typeddict-item"), ("11", "comparison-overlap"), ("13", "union-attr")]


def test_each_kind_of_field_has_its_type() -> None:
    line = obj("Line", {"sku": text(required=True), "count": integer(), "from": integer(nullable=False)})
    fields = {
        "number": text(required=True),
        "status": choice("draft", "final", default="draft"),
        "total": money(nullable=False),
        "paid_at": timestamp(),
        "lines": array(line, nullable=False),
        "rates": mapping(money(nullable=False), nullable=False),
    }
    written = render("Acme", [Collection("acme_bills", "Acme.Bill", fields, plain=True, internal=("hint",))], "check")
    assert (
        written.partition("\n\n\n")[2]
        == '''\
Line = TypedDict(
    "Line",
    {
        "sku": "str",
        "count": "NotRequired[int | None]",
        "from": "int",
    },
)


class AcmeBill(TypedDict):
    """A record of `acme_bills`."""

    id: StoredId
    number: str
    status: Literal["draft", "final"]
    total: StoredAmount
    paid_at: datetime | None
    lines: list[Line]
    rates: dict[str, StoredAmount]
    hint: NotRequired[object]
'''
    )
