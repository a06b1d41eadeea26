"""A type checker finds a misspelt field by `record_types.py` of the plugins."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
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


def test_a_type_checker_finds_a_misspelt_field_a_state_that_is_none_and_a_null(tmp_path: Path) -> None:
    """What has no types passes as before: a collection without them, and functions of any collection."""
    snippet = tmp_path / "reads.py"
    snippet.write_text(READS)
    # in the cache of the daily check, so that only the snippet is new
    command = (sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(snippet))
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    found = re.findall(r"reads\.py:(\d+): error: .*\[([\w-]+)\]", said)
    assert found == [("10", "typeddict-item"), ("11", "comparison-overlap"), ("13", "union-attr")]
