"""Two servers sweep many files in S3 like one."""

import pytest

from tests.experiments.files import test_sweeping_by_two as daily
from tests.support.s3_stand_in import S3Server

pytestmark = daily.pytestmark
pair = daily.pair
globals().update({name: test for name, test in vars(daily).items() if name.startswith("test_")})


@pytest.fixture(scope="module")
def buckets(s3: S3Server) -> dict[str, str]:
    """Settings of the storage."""
    return {name.upper(): value for name, value in s3.buckets().items()}


@pytest.fixture(autouse=True)
def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "MANY", 60)
