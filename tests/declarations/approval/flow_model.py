"""A model of approval flows on its own: nested steps instead of lists of keys, and people as plain sets.

`Flow` says what a request with an amount goes through; `Company` who is there, who stands in for whom, and who leads.
Nothing here comes from the plugin: what it does is told from its README.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

BOSS = 1  # user 1, a super administrator
Flow = list["Step"]
Answers = dict[int, str]  # person → open, agree or reject


@dataclass
class Company:
    """People 1 to n; those who are gone or away, delegations, and who leads each of them, the nearest first."""

    people: list[int]
    gone: set[int]
    away: set[int]
    delegates: dict[int, int]
    leaders: dict[int, list[int]]

    def there(self, person: int) -> bool:
        return person not in self.gone and person not in self.away

    def decides_for(self, person: int, barred: set[int]) -> int | None:
        """Follow delegations from a person to whoever decides; None if that is somebody who is not there."""
        if person in self.gone:
            return None
        chain = [person]
        while True:
            following = self.delegates.get(chain[-1])
            if following is None or following in barred or following in chain or not self.there(following):
                break
            chain.append(following)
        return chain[-1] if len(chain) > 1 or self.there(person) else None

    def leading(self, person: int) -> list[int]:
        return [one for one in self.leaders.get(person, []) if one != person and one not in self.gone]


@dataclass
class Ask:
    """A node that asks people: `level` is how many leaders above the initiator, 0 for none."""

    key: str
    users: list[int]
    level: int
    mode: str
    on_reject: str
    absent: str
    substitutes: list[int]

    def seats(self, company: Company, initiator: int) -> tuple[set[int], int] | None:
        """Who is asked and how many must agree; None if there are too few."""
        barred = {initiator} - {BOSS}
        wanted = [*self.users]
        if self.level:
            above = company.leading(initiator)
            wanted += [above[min(self.level, len(above)) - 1]] if above else [0]
        wanted = [one for one in wanted if one not in barred]
        need = {"any": 1, "all": max(1, len(wanted))}.get(self.mode) or int(self.mode[-1])
        asked = {who for one in wanted if one and (who := company.decides_for(one, barred)) is not None}
        if len(asked) < need and self.absent != "refuse":
            others = self.substitutes if self.absent == "substitute" else company.leading(initiator)
            for one in [*(one for one in others if one not in company.gone), BOSS]:
                who = company.decides_for(one, barred) if one not in barred else None
                if who is not None and len(asked) < need:
                    asked.add(who)
        return (asked, need) if len(asked) >= need else None


@dataclass
class Branch:
    """A node with branches: each for amounts from the first to below the second bound."""

    key: str
    cases: list[tuple[float, float, Flow]]


@dataclass
class Lanes:
    """A node with parallel lanes."""

    key: str
    lanes: list[Flow]


Step = Ask | Branch | Lanes


class TooFew(Exception):
    """A node that asks too few people."""


@dataclass
class Running:
    """A sequence of steps on its way. `inner` are the lanes of a step with lanes, `answers` those of one that asks."""

    steps: list[Ask | Lanes]
    at: int = -1
    answers: Answers = field(default_factory=dict)
    need: int = 0
    inner: list[Running] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.at >= len(self.steps)

    @property
    def step(self) -> Ask | Lanes:
        return self.steps[self.at]

    def everywhere(self) -> Iterator[Running]:
        """This sequence, and all that run within it, where somebody is asked."""
        if not self.done and isinstance(self.step, Ask):
            yield self
        for lane in self.inner:
            yield from lane.everywhere()

    def holding(self, key: str) -> Running | None:
        """The sequence that runs and has the step with this key."""
        if any(step.key == key for step in self.steps):
            return self
        return next((found for lane in self.inner if (found := lane.holding(key)) is not None), None)


@dataclass
class Model:
    """A request on its way."""

    company: Company
    initiator: int
    main: Running
    skip: bool
    status: str = "pending"
    log: list[str] = field(default_factory=list)

    @staticmethod
    def path(flow: Flow, amount: float) -> list[Ask | Lanes]:
        """The steps that are left once the branches are chosen."""
        steps: list[Ask | Lanes] = []
        for step in flow:
            if isinstance(step, Branch):
                taken = next((flow for least, below, flow in step.cases if least <= amount < below), None)
                if taken is None:
                    raise LookupError(step.key)
                steps += Model.path(taken, amount)
            elif isinstance(step, Lanes):
                lanes = [way for lane in step.lanes if (way := Model.path(lane, amount))]
                steps += [Lanes(step.key, [[*way] for way in lanes])] if lanes else []
            else:
                steps.append(step)
        return steps

    def enter(self, where: Running, at: int, agreed: frozenset[int] = frozenset()) -> None:
        where.at, where.answers, where.inner = at, {}, []
        if where.done:
            return
        if isinstance(where.step, Lanes):
            # `path` has taken the branches out of the lanes, which their type cannot say
            where.inner = [Running([*lane]) for lane in where.step.lanes]  # type: ignore[list-item]
            for lane in where.inner:
                self.enter(lane, 0, agreed)
            return
        seats = where.step.seats(self.company, self.initiator)
        if seats is None:
            raise TooFew(where.step.key)
        where.need = seats[1]
        where.answers = {one: "agree" if self.skip and one in agreed else "open" for one in seats[0]}

    def move_on(self) -> None:
        """Go on as far as the answers lead."""
        try:
            while self.status == "pending" and self._move(self.main):
                pass
        except TooFew:
            self.status = "returned"
        if self.status == "pending" and self.main.done:
            self.status = "approved"

    def _move(self, where: Running) -> bool:
        """Move one sequence, or one within it, by one step; return whether anything moved."""
        if where.done:
            return False
        if isinstance(where.step, Lanes):
            if any(self._move(lane) for lane in where.inner):
                return True
            if all(lane.done for lane in where.inner):
                self.enter(where, where.at + 1)
                return True
            return False
        given = [*where.answers.values()]
        if given.count("agree") >= where.need:
            self.enter(where, where.at + 1, frozenset(one for one, said in where.answers.items() if said == "agree"))
            return True
        if len(given) - given.count("reject") < where.need or (where.step.mode == "any" and "reject" in given):
            self.status = "returned" if where.step.on_reject == "back" else "rejected"
        return False

    @property
    def waiting(self) -> set[tuple[str, int]]:
        """Which node waits for whom."""
        if self.status != "pending":
            return set()
        asked = [(where.step.key, where.answers) for where in self.main.everywhere()]
        return {(key, one) for key, answers in asked for one, said in answers.items() if said == "open"}

    def act(self, who: int, key: str, action: str, to: Any) -> bool:
        """Do what a person does at a node; return whether they may."""
        if (key, who) not in self.waiting:
            return False
        where = next(one for one in self.main.everywhere() if one.step.key == key)
        if action == "transfer":
            if to in where.answers or to in {self.initiator} - {BOSS} or to in self.company.gone:
                return False
            del where.answers[who]
            where.answers[to] = "open"
        elif action == "send-back":
            target = self.main.holding(to)
            earlier = [step.key for step in target.steps[: target.at]] if target is not None else []
            around = target is not None and any(one is where for one in target.everywhere())
            if target is None or to not in earlier or not around:
                return False
            try:
                self.enter(target, earlier.index(to))
            except TooFew:
                self.status = "returned"
        else:
            where.answers[who] = action
        self.move_on()
        return True


def begin(flow: Flow, amount: float, company: Company, initiator: int, skip: bool) -> Model | None:
    """Submit a request; None if it is refused, as no branch applies or too few people can be asked."""
    try:
        steps = Model.path(flow, amount)
        model = Model(company, initiator, Running(steps), skip)
        if not steps:
            return None
        model.enter(model.main, 0)
        while model.status == "pending" and model._move(model.main):
            pass
    except (LookupError, TooFew):
        return None
    model.status = "approved" if model.main.done and model.status == "pending" else model.status
    return model


# -- random flows and companies


def random_company(chance: random.Random, size: int = 7) -> Company:
    people = [*range(1, size + 1)]
    others = people[1:]
    return Company(
        people,
        {one for one in others if chance.random() < 0.12},
        {one for one in others if chance.random() < 0.12},
        {one: chance.choice([each for each in people if each != one]) for one in others if chance.random() < 0.25},
        {one: chance.sample(others, chance.randint(0, 3)) for one in people},
    )


def random_flow(chance: random.Random, people: list[int], depth: int = 2) -> Flow:
    """A flow of up to a dozen nodes, whose branches mostly cover all amounts."""
    keys = (f"n{number}" for number in range(1000))

    def ask() -> Ask:
        users = chance.sample(people, chance.randint(1, 3))
        return Ask(
            next(keys),
            users,
            chance.choice((0, 0, 0, 1, 2)),
            chance.choice(("any", "any", "all", "quorum:2")),
            chance.choice(("end", "back")),
            chance.choice(("leader", "leader", "substitute", "refuse")),
            chance.sample(people, 2),
        )

    def steps(least: int, left: int) -> Flow:
        made: Flow = []
        for _ in range(chance.randint(least, 3 if left == depth else 2)):
            kind = chance.choice(("ask", "ask", "branch", "lanes")) if left else "ask"
            if kind == "ask":
                made.append(ask())
            elif kind == "lanes":
                made.append(Lanes(next(keys), [steps(1, left - 1) for _ in range(chance.randint(2, 3))]))
            else:
                bounds = sorted(chance.sample(range(1, 9), chance.randint(1, 2)))
                ends = [float("-inf"), *bounds, float("inf")] if chance.random() < 0.9 else [0, *bounds, 9]
                cases = [(low, high, steps(0, left - 1)) for low, high in pairwise(ends)]
                made.append(Branch(next(keys), cases))
        return made

    return steps(1, depth)
