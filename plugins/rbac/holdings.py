"""What a person holds: the records that name them as responsible, counted as the plugins declare holdings."""

from __future__ import annotations

from collections.abc import Collection as Names, Iterator, Sequence
from dataclasses import dataclass

from plugins.api import CONFLICT, ApiError, Message, Record, Request, Service
from plugins.api.records import Catalogue, Holding
from plugins.api.values import Language
from plugins.rbac.messages import HOLDS


@dataclass(frozen=True)
class Held:
    """How many records of a holding a person has."""

    holding: Holding
    count: int

    def shown(self, language: Language) -> Record:
        """Return the holding and its count as an item of a response, in `language`."""
        label = self.holding.name.text(language)
        return {**key_of(self.holding), "label": label, "count": self.count}


def key_of(holding: Holding) -> dict[str, str]:
    """Return the collection and the field, which identify a holding in responses and handovers."""
    return {"collection": holding.collection.name, "field": holding.field}


def holdings(service: Service, collections: Names[str] = ()) -> Iterator[Holding]:
    """Yield the holdings that can be handed over, in the order of the catalogue: all, or those of some collections."""
    for one in service.part(Catalogue).holdings:
        if not one.stays and (not collections or one.collection.name in collections):
            yield one


async def count_holdings(req: Request, user_id: int, collections: Names[str] = ()) -> list[Held]:
    """Count what a person holds, regardless of the caller's data scope. Holdings without records are left out."""
    found = []
    for one in holdings(req.service, collections):
        count = await req.system_store(one.collection).count(one.filter(user_id, req.now))
        if count:
            found.append(Held(one, count))
    return found


async def refuse_if_holding(req: Request, user_id: int) -> None:
    """Raise 40901, with a list of what the person holds, if they hold anything."""
    held = await count_holdings(req, user_id)
    if held:
        data = [{**key_of(one.holding), "count": one.count} for one in held]
        words = describe(held)
        raise ApiError(
            CONFLICT,
            Message(HOLDS.zh.format(holdings=words.zh), HOLDS.en.format(holdings=words.en)),
            data={"held_by": data},
        )


def describe(held: Sequence[Held]) -> Message:
    """Return what is held as one text, such as `customer (owner): 3, department (leader): 1`."""
    zh = "，".join(f"{one.holding.name.zh} {one.count}" for one in held)
    return Message(zh, ", ".join(f"{one.holding.name.en}: {one.count}" for one in held))
