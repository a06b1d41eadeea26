"""What entries of an item in a currency add up to, over random changes of what is owed, paid and due of it."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from plugins.api.business import in_base
from plugins.finance.entries import RESCHEDULED, Change, compare

ZERO, CENT = Decimal(0), Decimal("0.01")
ITEMS, STEPS = 100, 12
DUE = ("2026-11-05", "2026-11-20", "2026-12-20")


def states(chance: random.Random) -> Iterator[dict[str, Any]]:
    """The states of an item in a currency, of which nothing is open at the end."""
    rate = Decimal(chance.randint(1, 10**9)).scaleb(-chance.randint(2, 8))
    owed, paid, days = CENT * chance.randint(1, 10**6), ZERO, chance.sample(DUE, 2)
    for step in range(STEPS):
        if chance.random() < 0.2:
            owed = max(owed - CENT * chance.randint(0, 10**4), ZERO)
        if chance.random() < 0.2:
            days = chance.sample(DUE, 2)
        paid = owed if step == STEPS - 1 else min(owed, paid + CENT * chance.randint(0, 10**5))
        first = min(owed, CENT * chance.randint(0, 10**5))
        parts = [
            {"due_on": day, "amount": amount, "paid": ZERO}
            for day, amount in zip(days, (first, owed - first), strict=True)
        ]
        schedule = parts if chance.random() < 0.7 else None
        yield {"amount": owed, "paid": paid, "schedule": schedule, "due_on": days[0], "rate": rate, "currency": "EUR"}


def entries(chance: random.Random) -> Iterator[tuple[list[Change], dict[str, Any]]]:
    before = None
    for state in states(chance):
        yield [*compare(before, state)], state
        before = state


def test_entries_are_what_is_open_in_both_currencies_and_nothing_for_any_day_once_all_is_paid() -> None:
    chance = random.Random(43)
    for _ in range(ITEMS):
        sums, own = defaultdict[Any, Decimal](Decimal), defaultdict[Any, Decimal](Decimal)
        for made, state in entries(chance):
            for change in made:
                sums[change.due_on] += change.amount
                own[change.due_on] += change.currency_amount or ZERO
            left = in_base(state["amount"], state) - in_base(state["paid"], state)
            assert (sum(sums.values()), sum(own.values())) == (left, state["amount"] - state["paid"])
            assert not sum(change.amount for change in made if change.kind == RESCHEDULED)
        assert not any(sums.values())
        assert not any(own.values())
