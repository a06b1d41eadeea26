"""What holds for the routes and collections that stand for others in the daily tests holds for the others."""

import pytest

from tests.support.catalogue import EVERY
from tests.support.other_settings import passes

PATHS = [f"tests/api/every/test_every_{name}.py" for name in ("collection", "list", "cursor", "date", "history")]
PATHS += [f"tests/api/every/test_every_{name}.py" for name in ("table", "spreadsheet", "transition")]


@pytest.mark.parametrize("path", PATHS)
def test_what_is_tried_with_one_of_each_kind_holds_for_all(path: str, mongodb_uri: str) -> None:
    passes(path, mongodb_uri, **{EVERY: "1"})
