"""What one person does: the requests, what must follow from them, and whether the response is that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.testing import Reply
from tests.support.random_company.goods import Refused
from tests.support.random_company.model import Company

Record = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The response to the last request of a step, and the documents that it may have made."""

    reply: Reply
    made: Sequence[Record] = ()

    @property
    def refused(self) -> bool:
        """Whether the service refused it for the state of things, or of the item or the allocations of a payment."""
        return self.reply.code == 40901 or (self.reply.code == 40001 and self.reply.fields in _STALE)


# nothing is overpaid any more; somebody has allocated it on a later day
_STALE = ({"allocations[0].open_item_id"}, {"day"})
Made = Callable[[Company, Record], Mapping[str, Any]]


@dataclass(frozen=True)
class Step:
    """`apply` does to the model what the service did by a document, and returns what this must show, as `seen` reads it."""

    kind: str
    send: Callable[[], Awaitable[Outcome]]
    apply: Made
    seen: Callable[[Record], Mapping[str, Any]] = lambda _: {}
    about: str = ""  # the document that it changes

    def fits(self, model: Company, outcome: Outcome) -> bool:
        """Whether the model comes to this outcome from where it is. It goes on from there then."""
        if outcome.refused:
            return self._apply(model, {"id": "refused"}) is None
        return any(self._fits(model, made) for made in outcome.made)

    def tell_difference(self, model: Company, outcome: Outcome) -> str:
        """What the model and the service say, where the outcome does not fit."""
        made = outcome.made if not outcome.refused else ({"id": "refused"},)
        expected = [self._apply(Company(model), one) for one in made]
        said = "refused" if outcome.refused else [self.seen(one) for one in made]
        return f"{self.kind}: the model says {expected}, the service {said}"

    def _fits(self, model: Company, made: Record) -> bool:
        trial = Company(model)
        expected = self._apply(trial, made)
        if expected is None or expected != self.seen(made):
            return False
        model.keep(trial)
        return True

    def _apply(self, model: Company, made: Record) -> Mapping[str, Any] | None:
        try:
            return self.apply(model if made["id"] != "refused" else Company(model), made)
        except Refused:
            return None


def amounts(record: Record, *names: str) -> dict[str, Decimal]:
    """These amounts of a document."""
    return {name: Decimal(record[name]) for name in names}
