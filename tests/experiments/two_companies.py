"""Enters the sample databases themselves into a server of its own and compares every total: `--help` says how."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plugins.testing import Client
from scripts.memory import folder_in_memory
from tests.support.killable_site import site_at
from tests.support.random_company.office import Person
from tests.support.two_companies.comparing import compare
from tests.support.two_companies.loading import load
from tests.support.two_companies.source import READERS, Books, read_tables

_PATIENCE = 60.0  # seconds for which a request is repeated
_ROOM_BYTES = 2 << 30


def main(arguments: Sequence[str]) -> int:
    """Enter the companies; 0 when every total is the source's, or differs by what rounding explains."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.experiments.two_companies",
        description="Enters the books of AdventureWorks or classicmodels through the API and compares every total. A folder "
        "has the tables as CSV files with a header, such as SalesOrderHeader.csv; of AdventureWorks also Name in Customer.",
    )
    for name in READERS:
        parser.add_argument(f"--{name}", type=Path, metavar="FOLDER", help="its tables")
    folders = {name: folder for name, folder in vars(parser.parse_args(arguments)).items() if folder is not None}
    if not folders:
        parser.error("name the folder of a company")
    books = [READERS[name](read_tables(folder)) for name, folder in folders.items()]
    with tempfile.TemporaryDirectory(
        prefix="tradewind-companies-", dir=folder_in_memory(_ROOM_BYTES), ignore_cleanup_errors=True
    ) as folder:
        results = asyncio.run(_run(Path(folder), books))
    print(json.dumps(results, indent=1))
    return int(any(one["differences"] for one in results))


async def _run(folder: Path, books: Sequence[Books]) -> list[dict[str, Any]]:
    results = []
    async with site_at(folder) as site:
        person = Person(await Client(site.url).log_in("admin"), _PATIENCE)
        for company in books:
            began = time.monotonic()
            loaded = await load(person, company)
            seconds = round(time.monotonic() - began)
            found = await compare(person, company, loaded)
            figures = {"company": company.name, "seconds": seconds, "entered": dict(loaded.made)}
            results.append({**figures, "figures": found.summarise(), "differences": found.wrong})
    return results


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
