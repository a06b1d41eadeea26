"""The script's own ledger: what happened, by whom and for whom, and who is to see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from tests.support.company_month.staff import DEPARTMENTS, ROLES, STAFF


@dataclass(eq=False)
class Fact:
    """Something that happened. `department` is that of who entered it, then; `owner` is who is responsible now.

    `seller` is who was responsible then, `before` the earlier department of an employee.
    """

    kind: str
    creator: str
    department: str
    owner: str | None = None
    customer: Fact | None = None
    others: frozenset[str] = frozenset()  # who sees it besides
    values: dict[str, Any] = field(default_factory=dict)
    before: str | None = None

    def __post_init__(self) -> None:
        self.seller = self.owner

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass
class Member:
    """Where somebody works now, and as what."""

    department: str
    roles: tuple[str, ...]

    @property
    def sees_all(self) -> bool:
        """Whether one of the roles sees every row."""
        return any(ROLES[role].scope == "all" for role in self.roles)

    @property
    def departments(self) -> set[str]:
        """The departments whose rows the roles show."""
        if all(ROLES[role].scope != "department_and_below" for role in self.roles):
            return set()
        return {one for one, (above, _) in DEPARTMENTS.items() if self.department in (one, above)}


@dataclass
class Stock:
    """What a warehouse holds of each product: quantity and value."""

    held: dict[str, tuple[Decimal, Decimal]] = field(default_factory=dict)

    def put(self, product: str, quantity: Decimal, value: Decimal) -> None:
        """Goods come in."""
        before = self.held.get(product, (Decimal(0), Decimal(0)))
        self.held[product] = (before[0] + quantity, before[1] + value)

    def take(self, product: str, quantity: Decimal) -> Decimal:
        """Goods go out, and the value that goes with them: their share of the whole."""
        held, value = self.held[product]
        taken = (value * quantity / held).quantize(Decimal("0.01"))
        self.held[product] = (held - quantity, value - taken)
        return taken

    @property
    def totals(self) -> tuple[Decimal, Decimal]:
        """The quantity and the value of everything."""
        quantities, values = zip(*self.held.values(), strict=True) if self.held else ((), ())
        return sum(quantities, Decimal(0)), sum(values, Decimal(0))


class Ledger:
    """All facts of the month, the people as they are now, and the stock by warehouse."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.members = {who: Member(one.department, ("everybody", *one.roles)) for who, one in STAFF.items()}
        self.stock: dict[str, Stock] = {}
        self.keepers: dict[str, frozenset[str]] = {}
        self.employees: dict[str, Fact] = {}

    def note(
        self,
        kind: str,
        creator: str,
        *,
        owner: str | None = None,
        customer: Fact | None = None,
        others: tuple[str, ...] = (),
        **values: Any,
    ) -> Fact:
        """Note what somebody did."""
        fact = Fact(kind, creator, self.members[creator].department, owner, customer, frozenset(others), values)
        self.facts.append(fact)
        return fact

    def of(self, kind: str, **values: Any) -> list[Fact]:
        """The facts of a kind with these values."""
        return [
            one
            for one in self.facts
            if one.kind == kind and all(one.values.get(name) == value for name, value in values.items())
        ]

    def seen(self, who: str, kind: str) -> list[Fact]:
        """The facts of a kind in somebody's data scope."""
        return [one for one in self.of(kind) if self._sees(who, one)]

    def seen_before(self, who: str, kind: str) -> list[Fact]:
        """The same as long as everybody was in their earlier department."""
        return [one for one in self.of(kind) if self._sees(who, replace(one, department=one.before or one.department))]

    def _sees(self, who: str, fact: Fact) -> bool:
        member = self.members[who]
        responsible = {fact.owner, fact.customer.owner if fact.customer else None}
        departments = {fact.department, *([self.members[fact.owner].department] if fact.owner else ())}
        return (
            member.sees_all
            or who in (fact.creator, *responsible, *fact.others)
            or not member.departments.isdisjoint(departments)
        )

    def warehouses(self, who: str) -> Mapping[str, Stock]:
        """The warehouses whose stock somebody sees."""
        return {
            name: stock
            for name, stock in self.stock.items()
            if self.members[who].sees_all or not self.keepers.get(name) or who in self.keepers[name]
        }
