"""Where the Northwind files are: TRADEWIND_NORTHWIND, else beside the repository in ../shared/northwind."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("TRADEWIND_NORTHWIND") or ROOT.parent / "shared" / "northwind")

needs_folder = pytest.mark.skipif(
    not (FOLDER / "customers.csv").is_file(),
    reason=f"no Northwind files in {FOLDER}; set TRADEWIND_NORTHWIND to their folder",
)
