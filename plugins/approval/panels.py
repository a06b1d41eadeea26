"""Whom a node asks: users, roles, leaders and their delegates, of one moment. The methods use no database.

No node is skipped: where people lack, the node's rule for absence acts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plugins.approval.flow import Assignee, Panel, count_needed, people_behind
from plugins.approval.records import MAX_PEOPLE

DEFAULT_RULE = "leader"
FIRST_USER = 1


@dataclass(frozen=True)
class Person:
    """What decides whether somebody is asked. `permitted`: with the permission to agree; `away`: on leave, for example."""

    enabled: bool = True
    permitted: bool = True
    away: bool = False
    is_super: bool = False
    leaders: Sequence[int] = ()  # above the person, the nearest first


@dataclass(frozen=True)
class Staff:
    """The people, the leaders of departments, the holders of roles, and the delegations that run."""

    people: Mapping[int, Person]
    department_leaders: Mapping[int, int | None]
    holders: Mapping[frozenset[int], Sequence[int]]
    delegates: Mapping[int, int]
    own_allowed: bool = False

    def is_enabled(self, user_id: int) -> bool:
        """Return whether the account is enabled."""
        return user_id in self.people and self.people[user_id].enabled

    def is_present(self, user_id: int) -> bool:
        """Return whether the person can be asked now."""
        return self.may_decide(user_id) and not self.people[user_id].away

    def may_decide(self, user_id: int) -> bool:
        """Return whether the person could decide, were they not away."""
        return self.is_enabled(user_id) and self.people[user_id].permitted

    def excluded(self, behind: Iterable[int]) -> frozenset[int]:
        """Return those of the people `behind` a request who may not decide on it."""
        if self.own_allowed:
            return frozenset()
        return frozenset(one for one in behind if one not in self.people or not self.people[one].is_super)

    def leaders(self, user_id: int) -> list[int]:
        """Return the enabled leaders above a person, the nearest first.

        Departments without a leader, or led by the person, do not count.
        """
        chain = self.people[user_id].leaders if user_id in self.people else ()
        return [one for one in chain if one != user_id and self.is_enabled(one)]

    def places(self, approvers: Mapping[str, Any], initiator_id: int) -> list[int | None]:
        """Return the person of each place that `approvers` names, at most `MAX_PEOPLE`.

        The place of a leader is None where there is no such leader, and names a person again who has another place.
        Holders of roles have one place each, and none besides another one. People named in person may be disabled.
        """
        places: list[int | None] = list(approvers.get("users") or ())
        if approvers.get("department_leader"):
            places.append(self.department_leaders.get(approvers["department_leader"]))
        if approvers.get("initiator_leader"):
            leaders = self.leaders(initiator_id)
            places.append(leaders[min(approvers["initiator_leader"], len(leaders)) - 1] if leaders else None)
        if approvers.get("roles"):
            places += [one for one in self.holders.get(frozenset(approvers["roles"]), ()) if one not in places]
        return places[:MAX_PEOPLE]

    def named(self, approvers: Mapping[str, Any] | None, initiator_id: int) -> list[int]:
        """Return the enabled people that `approvers` names, each once."""
        places = dict.fromkeys(self.places(approvers or {}, initiator_id))
        return [one for one in places if one is not None and self.is_enabled(one)]

    def delegate(self, user_id: int, excluded: frozenset[int]) -> int | None:
        """Return who decides in place of a person; None if that is somebody who cannot be asked now.

        Delegations of a delegate count too; a cycle ends before it closes. Delegations to `excluded` people do not
        count, nor those to people who cannot be asked.
        """
        if not self.is_enabled(user_id):
            return None
        visited = [user_id]
        while (found := self.delegates.get(visited[-1])) is not None:
            if found in excluded or found in visited or not self.is_present(found):
                break
            visited.append(found)
        return visited[-1] if len(visited) > 1 or self.is_present(user_id) else None

    def substitutes(self, node: Mapping[str, Any], initiator_id: int, excluded: frozenset[int]) -> list[int]:
        """Return whom the node's rule for absence asks, in this order, if people lack.

        `leader`: the leaders above the initiator; `substitute`: the substitutes of the node; after both user 1.
        `refuse`: nobody.
        """
        rule = get_rule(node)
        if rule == "refuse":
            return []
        found = (
            self.named(node.get("substitutes"), initiator_id) if rule == "substitute" else self.leaders(initiator_id)
        )
        return [one for one in dict.fromkeys([*found, FIRST_USER]) if one not in excluded]

    def panel(self, node: Mapping[str, Any], approval: Mapping[str, Any]) -> Panel:
        """Return the people of a node, each once. For those who lack, the node's rule for absence names others.

        People who may not decide on the request are not counted as named. The panel is incomplete if nobody is left
        whom the rule could name.
        """
        excluded, initiator_id = self.excluded(people_behind(approval)), approval["initiator_id"]
        places = self._chosen(node, approval) or self.places(node["approvers"], initiator_id)
        places = [one for one in places if one not in excluded]
        named = [one for one in dict.fromkeys(places) if one is not None]
        needed, asked = count_needed(node["mode"], len(places)), dict[int, Assignee]()
        stand_ins = {one: self.delegate(one, excluded) for one in named}
        # those who are there first, so that nobody's own place counts as the place of a person who delegated to them
        for user_id in sorted(named, key=lambda one: stand_ins[one] != one):
            delegate = stand_ins[user_id]
            if delegate is not None:
                asked.setdefault(delegate, stand_in(delegate, user_id))
        vacant = [one for one in named if not any(one in (each.user_id, each.on_behalf_of) for each in asked.values())]
        for substitute in self.substitutes(node, initiator_id, excluded):
            delegate = self.delegate(substitute, excluded)
            if len(asked) < needed and delegate is not None and delegate not in asked:
                asked[delegate] = Assignee(delegate, vacant.pop(0) if vacant else None, get_rule(node))
        return Panel(list(asked.values()), needed, self.named(node.get("copies"), initiator_id))

    def _chosen(self, node: Mapping[str, Any], approval: Mapping[str, Any]) -> list[int | None]:
        """Return those of the people of a node whom the initiator chose, if the node lets them choose."""
        chosen = (approval.get("choices") or {}).get(node["key"]) if node.get("choice") else None
        if not isinstance(chosen, list):
            return []
        return [one for one in self.places(node["approvers"], approval["initiator_id"]) if one in chosen]


def stand_in(user_id: int, place_of: int) -> Assignee:
    """Return the assignee for a person's own place or for that of somebody who delegated to them."""
    return Assignee(user_id) if user_id == place_of else Assignee(user_id, place_of, "delegate")


def get_rule(node: Mapping[str, Any]) -> str:
    """Return the rule of a node for absent people."""
    return str(node.get("absent") or DEFAULT_RULE)
