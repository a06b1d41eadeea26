"""Passes: what a record hangs below, what a passage admits, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from handlers.access.actor import Actor
from handlers.data.collection import Collection
from handlers.data.visible.delegated_access import Passage, find_parents
from handlers.schema.fields import array, integer, obj
from handlers.schema.messages import Message

pytestmark = pytest.mark.gen_test(timeout=5)
DEALS = Collection(name="deals", title="Deal", alias="agreements", ids="integer", fields={})
PARTS = Collection(
    name="parts",
    title="Part",
    ids="integer",
    fields={
        "deal_id": integer(ref="agreements", required=True),
        "made_for_id": integer(ref="deals", read_only=True, nullable=False),
        "former_deal_id": integer(ref="deals"),
        "closed_deal_id": integer(ref="deals", read_only=True),
        "deal_ids": array(integer(ref="deals"), required=True),
        "lines": array(obj("Line", {"deal_id": integer(ref="deals", required=True)})),
        "unknown_id": integer(ref="things", required=True, ref_optional=True),
    },
)
PARENTS = find_parents([DEALS, PARTS])
WHY = Message("因为", "because")


class Asked:
    """Passes for some deals, with the look-ups that they were asked for."""

    def __init__(self, *admitted: int) -> None:
        self._admitted = admitted
        self.looked_up: list[list[int]] = []

    def covers(self, collection: Collection) -> bool:
        return collection is DEALS

    async def reasons(self, actor: Actor, collection: Collection, ids: Sequence[Any]) -> Mapping[Any, Message]:
        self.looked_up.append(sorted(ids))
        return {id: WHY for id in ids if id in self._admitted}


def passage(asked: Asked, *, lists: bool = True) -> Passage:
    return Passage(asked, Actor(user_id=7), PARENTS, lists)


def part(deal_id: int | None, made_for_id: int | None = None) -> dict[str, Any]:
    return {"id": 90, "deal_id": deal_id, "made_for_id": made_for_id, "former_deal_id": 1, "deal_ids": [1]}


def test_a_record_hangs_below_those_that_it_cannot_be_without() -> None:
    assert PARENTS == {"deals": [], "parts": [("deal_id", DEALS), ("made_for_id", DEALS)]}


async def test_a_record_is_admitted_for_itself_and_for_each_that_it_hangs_below() -> None:
    assert await passage(Asked(1)).reason(DEALS, {"id": 1}) is WHY
    assert await passage(Asked(1)).reason(DEALS, {"id": 2}) is None
    assert await passage(Asked(1)).admits(PARTS, part(1))
    assert await passage(Asked(1)).admits(PARTS, part(None, 1))
    assert not await passage(Asked(1)).admits(PARTS, part(2, 3))


async def test_several_records_are_looked_up_together_and_none_of_them_twice() -> None:
    asked = Asked(5)
    of_request = passage(asked)
    assert await of_request.admits(PARTS, part(1), part(2), part(5))
    assert await of_request.admits(PARTS, part(5))
    assert not await of_request.admits(DEALS, {"id": 2})
    assert asked.looked_up == [[1, 2, 5]]


@pytest.mark.parametrize(
    ("query", "admitted"),
    [
        ({"deal_id": [1]}, True),
        ({"deal_id": [1, 2]}, True),
        ({"deal_id": [1, 3]}, False),
        ({"former_deal_id": [1]}, False),
        ({"deal_id": None}, False),
        ({}, False),
    ],
)
async def test_a_list_is_admitted_if_each_record_that_it_is_narrowed_to_is(
    query: Mapping[str, Any], admitted: bool
) -> None:
    assert await passage(Asked(1, 2)).admits_list(PARTS, query) is admitted


async def test_a_request_for_no_list_admits_none() -> None:
    assert not await passage(Asked(1), lists=False).admits_list(PARTS, {"deal_id": [1]})


def test_a_passage_concerns_what_people_are_asked_about_and_what_hangs_below() -> None:
    other = Collection(name="others", title="Other", fields={})
    assert [passage(Asked()).concerns(one) for one in (DEALS, PARTS, other)] == [True, True, False]
