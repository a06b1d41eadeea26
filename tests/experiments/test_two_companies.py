"""The books of two companies, entered through the API: every total is that of the source, or differs by what rounding explains.

The tables are made with the structure, decimals and habits of AdventureWorks and classicmodels. `python -m
tests.experiments.two_companies` reads those databases themselves, from a folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, serving
from tests.api.finance.audit_runs import audited
from tests.support.random_company.office import Person
from tests.support.two_companies.comparing import Comparison, compare
from tests.support.two_companies.loading import Loaded, load
from tests.support.two_companies.made import make_adventureworks, make_classicmodels
from tests.support.two_companies.source import Books, adventureworks, classicmodels

SALES, PURCHASES, ORDERS = 160, 120, 120
PATIENCE = 60.0  # seconds for which a request is repeated that a busy machine did not answer in time


@dataclass
class Entered:
    """A company, what was entered of it, and how that compares."""

    books: Books
    loaded: Loaded
    found: Comparison


@pytest.fixture(scope="module")
def companies(
    io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Person, list[Entered]]]:
    """A server with both companies."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("companies"), response_checks="some")
    server = io_loop.run_sync(block.__aenter__)

    async def enter() -> tuple[Person, list[Entered]]:
        person = Person(await Client(server.url).log_in("admin"), PATIENCE)
        entered = []
        for books in (
            adventureworks(make_adventureworks(SALES, PURCHASES, seed=43)),
            classicmodels(make_classicmodels(ORDERS, seed=44)),
        ):
            loaded = await load(person, books)
            entered.append(Entered(books, loaded, await compare(person, books, loaded)))
        return person, entered

    try:
        yield io_loop.run_sync(enter, timeout=900)
    finally:
        io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.mark.parametrize("place", [0, 1], ids=["adventureworks", "classicmodels"])
def test_every_total_of_every_document_is_that_of_the_source_but_for_rounding(
    place: int, companies: tuple[Person, list[Entered]]
) -> None:
    entered = companies[1][place]
    print(entered.books.name, dict(entered.loaded.made), *entered.found.summarise().items(), sep="\n")
    assert entered.found.wrong == []
    exact = ["total of an order", "net of a line", "price of a line", "stock of a product"]
    assert {name: entered.found.rounded[name] for name in exact} == dict.fromkeys(exact, 0)


def test_what_has_cents_in_the_source_differs_nowhere(companies: tuple[Person, list[Entered]]) -> None:
    assert companies[1][1].found.rounded.total() == 0


@pytest.mark.gen_test(timeout=60)
async def test_the_audit_finds_nothing(companies: tuple[Person, list[Entered]]) -> None:
    assert (await audited(companies[0].client, seconds=50))["differences"] == []
