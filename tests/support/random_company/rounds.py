"""Rounds: four people do something at once, and the model must come to the same in some order of the four."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from tests.support.random_company import money, opening, reallocating, trading
from tests.support.random_company.model import Company
from tests.support.random_company.office import FINANCE, Office, Person
from tests.support.random_company.steps import Outcome, Step

OPENING = Decimal(300)
CHANGES = {"close of an order", "cancel of an order", "end of a contract", "void invoice", "allocation"}
CHANGES |= {"allocation taken back", "credit between items", "reversal of an opening item", "revision of an order"}
Choice = Callable[[Office, Person], Step | None]

CHOICES: tuple[tuple[int, Choice], ...] = (
    (10, lambda office, person: trading.order(office, person, incoming=True)),
    (13, lambda office, person: trading.ship(office, person, incoming=True)),
    (4, lambda office, person: trading.give_back(office, person, incoming=True)),
    (12, lambda office, person: trading.order(office, person, incoming=False)),
    (16, lambda office, person: trading.ship(office, person, incoming=False)),
    (7, lambda office, person: trading.give_back(office, person, incoming=False)),
    (3, lambda office, person: trading.revise(office, person, incoming=True)),
    (3, lambda office, person: trading.revise(office, person, incoming=False)),
    (4, trading.transfer),
    (3, trading.count),
    (8, money.invoice),
    (13, money.pay),
    (5, money.allocate),
    (3, money.pay_back),
    (3, reallocating.take_back),
    (2, reallocating.credit_item),
    (6, money.pay_at_source),
    (3, money.contract),
    (6, money.receive),
    (3, money.claim),
    (3, opening.open_item),
    (3, opening.adjust),
    (4, money.voucher),
    (4, lambda office, person: credit_some(office, person)),
    (7, lambda office, person: reverse_some(office, person)),
    (2, lambda office, person: end_some(office, person)),
)


class Disagreement(AssertionError):
    """The service did what the model says in no order of the steps."""


@dataclass
class Tally:
    """What was done: documents by kind, and what was refused."""

    made: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    reordered: int = 0

    @property
    def documents(self) -> int:
        """How many documents there are; what only changes the state of one is none."""
        return sum(count for kind, count in self.made.items() if kind not in CHANGES)


def credit_some(office: Office, person: Person) -> Step | None:
    """Credit a part of an invoice, or declare it void."""
    keys = [key for key, one in office.model.invoices.items() if one["net"]]
    if not keys:
        return None
    key = office.chance.choice(keys[-20:])
    if office.model.invoices[key]["bills"] is None and office.chance.random() < 0.15:
        return money.void(office, person, key)
    return money.credit(office, person, key)


def reverse_some(office: Office, person: Person) -> Step | None:
    """Reverse one of the last documents."""
    model, chance = office.model, office.chance
    kinds: tuple[tuple[dict, Callable[[Office, Person, str], Step]], ...] = (
        (model.shipments, trading.reverse_shipment),
        (model.returns, trading.reverse_return),
        (model.moves, trading.reverse_move),
        (model.payments, money.reverse_payment),
        (model.receipts, money.reverse_receipt),
        (model.vouchers, money.reverse_voucher),
        (model.adjustments, opening.reverse_adjustment),
    )
    table, reverse = chance.choice(kinds)
    # in the end everything is reversed, so nothing may be lost
    kept = model.list_written_off()
    keys = [
        key for key, one in table.items() if one["live"] and key not in kept and _is_reversed_by_its_id(office, key)
    ]
    return reverse(office, person, chance.choice(keys[-15:])) if keys else None


def _is_reversed_by_its_id(office: Office, key: str) -> bool:
    """Not an opening count, a payment whose id nobody was told, or one that came from an allocation."""
    receipt = office.model.receipts.get(key)
    by_finance = receipt is not None and receipt["payment"] not in (None, key)
    of_contract = key in office.model.payments and receipt is not None
    return not (by_finance or of_contract or key in office.opening or key.startswith("at-source"))


def end_some(office: Office, person: Person) -> Step | None:
    """Close or cancel an order, or terminate a contract."""
    model, chance = office.model, office.chance
    orders = [key for key, one in model.orders.items() if one["state"] == "open"]
    contracts = [key for key, one in model.items.items() if one["is_contract"] and not one["ended"]]
    if len(contracts) > 3 and chance.random() < 0.2:
        return money.end_contract(office, person, chance.choice(contracts))
    return trading.end_order(office, person, chance.choice(orders[-20:])) if orders else None


def choose(office: Office, person: Person) -> Step:
    """Something that can be done now."""
    weights, choices = zip(*CHOICES, strict=True)
    while True:
        step = office.chance.choices(choices, weights)[0](office, person)
        if step is not None:
            return step


async def perform(office: Office, steps: Sequence[Step], tally: Tally) -> list[Outcome]:
    """Do all of this at once, and let the model follow. Raises `Disagreement` where it cannot."""
    outcomes = await asyncio.gather(*(step.send() for step in steps))
    for step, outcome in zip(steps, outcomes, strict=True):
        if outcome.reply.code and not outcome.refused:
            raise Disagreement(f"{step.kind}: {outcome.reply.status} {outcome.reply.body.decode()[:1000]}")
        (tally.refused if outcome.refused else tally.made)[step.kind] += 1
    orders = [*_fitting(office, steps, outcomes)]
    if orders:
        kept = await _choose(office, [trial for _, trial in orders])
        office.model.keep(kept)
        tally.reordered += kept is not orders[0][1] or orders[0][0] > 0
        return outcomes
    told = [
        f"{step.kind} {step.about}: {outcome.reply.body.decode()[:1000]}"
        for step, outcome in zip(steps, outcomes, strict=True)
    ]
    raise Disagreement("\n".join((*told, _explain(office, steps, outcomes))))


def _explain(office: Office, steps: Sequence[Step], outcomes: Sequence[Outcome]) -> str:
    """In which order of the steps the model goes furthest, and what it says to the next one."""
    furthest, found = -1, ""
    for order in itertools.permutations(range(len(steps))):
        trial = Company(office.model)
        stop = next(n for n, place in enumerate(order) if not steps[place].fits(trial, outcomes[place]))
        if stop > furthest:
            place = order[stop]
            furthest, found = stop, f"{order[: stop + 1]}: {steps[place].tell_difference(trial, outcomes[place])}"
    return found


def _fitting(office: Office, steps: Sequence[Step], outcomes: Sequence[Outcome]) -> Iterator[tuple[int, Company]]:
    """The model after each order of the steps in which it comes to the outcomes, with the number of the order."""
    for number, order in enumerate(itertools.permutations(range(len(steps)))):
        trial = Company(office.model)
        if all(steps[place].fits(trial, outcomes[place]) for place in order):
            yield number, trial


async def _choose(office: Office, trials: Sequence[Company]) -> Company:
    """The first after which each party owes, or is owed, on each day what its statement says.

    Replies do not always tell in which order the steps were taken, and neither does what is open today: a contract that
    has ended is owed as far as it was paid, and what changes an item changes it on a day of its own.
    """
    if len({frozenset(Counter(trial.entries).items()) for trial in trials}) == 1:
        return trials[0]
    said = {}
    for party, day in {(party, day) for trial in trials for party, _, _, day, _ in trial.entries if party is not None}:
        field, side = ("supplier_id", "in") if party in office.suppliers else ("customer_id", "out")
        found = await office.manager.get(f"{FINANCE}/statements?{field}={party}&to={day}&page_size=1")
        said[party, side, day] = Decimal(found["closing_balance"])
    agreeing = (one for one in trials if all(_owed(office, one, *at) == amount for at, amount in said.items()))
    return next(agreeing, trials[0])


def _owed(office: Office, trial: Company, party: str, side: str, until: str) -> Decimal:
    entries = [one for one in (*office.model.entries, *trial.entries) if one[0] == party and one[3] <= until]
    return sum((amount if of == side else -amount for _, of, _, _, amount in entries), Decimal(0))


async def open_stock(office: Office, tally: Tally) -> None:
    """Enter the opening stock, on the first day."""
    for product in office.products:
        steps = [
            trading.counted(office, office.people[0], product, place, OPENING, office.first_day)
            for place in office.places
        ]
        await perform(office, steps, tally)
    office.opening += office.model.moves


async def trade(office: Office, documents: int, tally: Tally) -> None:
    """Let four people do things until there are so many documents more."""
    enough = tally.documents + documents
    while tally.documents < enough:
        await perform(office, [choose(office, person) for person in office.people], tally)
