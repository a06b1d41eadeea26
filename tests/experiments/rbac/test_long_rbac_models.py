"""Many random companies, attacks and rehearsals, where the tests of every day have a few."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import Client, People
from tests.api.rbac.test_model import check_companies
from tests.api.rbac.test_rehearsal_model import check_rehearsals
from tests.experiments.rbac.test_take_over_model import check_sequences
from tests.support.servers import instances


@pytest.fixture
def server(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with notes, for one model."""
    block = instances(mongodb_uri, tmp_path_factory.mktemp("model"), {})
    yield io_loop.run_sync(block.__aenter__)[0]
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


def test_the_service_returns_what_the_model_says(io_loop: IOLoop, server: Running) -> None:
    check_companies(io_loop, server, People(io_loop.run_sync(lambda: Client(server.url).log_in("admin"))), 40)


def test_no_sequence_of_steps_ends_with_more(io_loop: IOLoop, server: Running) -> None:
    check_sequences(io_loop, server, 40)


def test_what_is_rehearsed_is_what_happens(io_loop: IOLoop, server: Running) -> None:
    check_rehearsals(io_loop, server, 50_000)
