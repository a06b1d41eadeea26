"""Whether the branches of a flow cover all values, whether each can be reached, and whether everybody is asked somebody.

The values of a field fall into classes that no condition of the flow tells apart. A set of records is a list of boxes,
and a box a set of classes for each field; so every record is accounted for, and each finding has an example. No database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from plugins.api import Field
from plugins.approval.conditions import holds
from plugins.approval.facts import NUMBERS, conditions_of
from plugins.approval.tree import Node, build_tree

MAX_BOXES = 5_000
_MOST_PARTS = 6  # texts of `contains` on one field whose combinations are told apart
_DECIMALS = {"integer": 0, "money": 2, "quantity": 4}
Box = tuple[frozenset[int], ...]
Region = list[Box]


@dataclass(frozen=True)
class Finding:
    """What is wrong with a flow, where, and values with which it goes wrong."""

    rule: str
    node: str | None = None
    branch: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


class TooCostly(Exception):
    """The branches depend on too many values at once."""


class Coverage:
    """The walk of all possible records through the branches of a flow."""

    def __init__(self, flow: Mapping[str, Any], field_of: Callable[[str], Field | None]) -> None:
        conditions = conditions_of(flow)
        self._flow, self._tree = flow, build_tree(flow["nodes"])
        self._paths = list(dict.fromkeys(one["field"] for one in conditions))
        self._values = [
            _classes(field_of(path), [one for one in conditions if one["field"] == path]) for path in self._paths
        ]
        self._found: list[Finding] = []

    def find(self) -> list[Finding]:
        """Return what is wrong, the first node first."""
        try:
            everything = [self._box(self._flow.get("conditions") or ())]
            if not self._any(everything):
                return [Finding("unreachable")]
            self._visit(self._tree.main, everything)
            unasked = self._unasked(self._tree.main, everything)
        except TooCostly:
            return [*self._found, Finding("cost")]
        if unasked and not any(one.rule == "uncovered" for one in self._found):
            self._found.append(Finding("nobody_asked", values=self._example(unasked)))
        return self._found

    def _visit(self, keys: Sequence[str], region: Region) -> None:
        for key in keys:
            node = self._tree.nodes[key]
            for part in node.get("lanes") or ():
                self._visit(part["nodes"], region)
            if node.get("branches"):
                self._visit_branches(node, region)

    def _visit_branches(self, node: Node, region: Region) -> None:
        left = region
        for branch in node["branches"]:
            box = self._box(branch["conditions"])
            # where the initiator chooses, a branch is also reached by what an earlier one applies to
            reached = _intersect(region if node.get("choice") else left, box)
            if reached:
                self._visit(branch["nodes"], reached)
            else:
                self._found.append(Finding("unreachable", node["key"], branch["name"]))
            left = _subtract(left, box)
        if left:
            self._found.append(Finding("uncovered", node["key"], values=self._example(left)))

    def _unasked(self, keys: Sequence[str], region: Region) -> Region:
        """Return the records of a region that pass a sequence without anybody being asked."""
        for key in keys:
            node, left = self._tree.nodes[key], region
            if not node.get("lanes") and not node.get("branches"):
                return []
            for part in node.get("lanes") or ():
                region = self._unasked(part["nodes"], region)
            if node.get("branches"):
                passed: Region = []
                for branch in node["branches"]:
                    box = self._box(branch["conditions"])
                    taken = _intersect(region if node.get("choice") else left, box)
                    passed += self._unasked(branch["nodes"], taken)
                    left = _subtract(left, box)
                region = passed
        return region

    def _box(self, conditions: Sequence[Mapping[str, Any]]) -> Box:
        return tuple(
            frozenset(
                number
                for number, value in enumerate(values)
                if all(holds(one["op"], value, one.get("value")) for one in conditions if one["field"] == path)
            )
            for path, values in zip(self._paths, self._values, strict=True)
        )

    @staticmethod
    def _any(region: Region) -> bool:
        return any(all(box) for box in region)

    def _example(self, region: Region) -> dict[str, Any]:
        box = next(box for box in region if all(box))
        return {path: values[min(chosen)] for path, values, chosen in zip(self._paths, self._values, box, strict=True)}


def _intersect(region: Region, box: Box) -> Region:
    met = [tuple(one & other for one, other in zip(each, box, strict=True)) for each in region]
    return [one for one in met if all(one)]


def _subtract(region: Region, box: Box) -> Region:
    """Return what is in the region and not in the box, as boxes that do not overlap."""
    left: Region = []
    for one in region:
        rest = [*one]
        for at, taken in enumerate(box):
            outside = rest[at] - taken
            if outside:
                left.append((*rest[:at], outside, *rest[at + 1 :]))
            rest[at] &= taken
            if not rest[at]:
                break
    if len(left) > MAX_BOXES:
        raise TooCostly
    return [one for one in left if all(one)]


# -- the classes of values of a field


def _classes(field: Field | None, conditions: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return one value for each class of values that the conditions tell apart, the plainest first."""
    found: dict[tuple[bool, ...], Any] = {}
    for value in _candidates(field, conditions):
        truth = tuple(holds(one["op"], value, one.get("value")) for one in conditions)
        found.setdefault(truth, value)
    return list(found.values())


def _candidates(field: Field | None, conditions: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    """Yield values of the field, among them one for every combination of conditions that a value can meet."""
    named = [
        value for one in conditions if one["op"] not in ("exists", "contains") for value in _many(one.get("value"))
    ]
    parts = list(dict.fromkeys(str(one.get("value")) for one in conditions if one["op"] == "contains"))
    compared = field.items if field is not None and field.kind == "array" else field
    if field is None:
        yield from _numbers(None, named)
        yield from _texts(named, parts)
        yield from (True, False)
        yield from _lists(parts)
    elif field.kind == "array":
        yield from _lists([one.get("value") for one in conditions if one["op"] == "contains"])
    elif field.kind in ("object", "mapping"):
        yield {}
    elif field.kind == "boolean":
        yield from (False, True)
    elif compared is not None and compared.rules.get("enum"):
        yield from (one for one in compared.rules["enum"] if one is not None)
    elif field.kind in NUMBERS and field.ref is None:
        yield from _numbers(field, named)
    elif field.kind == "integer":
        numbers = [one for one in named if isinstance(one, int)]
        yield from (*numbers, max(numbers, default=0) + 1)
    elif field.kind in ("day", "timestamp"):
        yield from _times(field.kind, [one for one in named if isinstance(one, str)])
    else:
        yield from _texts(named, parts)
    if field is None or (field.nullable and not field.required):
        yield None


def _many(value: Any) -> list[Any]:
    return [one for one in (value if isinstance(value, list) else [value]) if one is not None]


def _numbers(field: Field | None, named: Sequence[Any]) -> Iterator[str | int]:
    step = Decimal(1).scaleb(-_DECIMALS.get(field.kind if field else "", 6))
    points = {one for value in named if (one := _as_number(value)) is not None} or {Decimal(0)}
    beside = {(one // step + move) * step for one in points for move in (-1, 0, 1, 2)}
    rules = field.rules if field is not None else {}
    least, most = _as_number(rules.get("minimum")), _as_number(rules.get("maximum"))
    for one in (*sorted(points), *sorted(beside - points)):
        possible = (least is None or one >= least) and (most is None or one <= most) and one % step == 0
        if possible:
            yield int(one) if field is not None and field.kind == "integer" else f"{one.normalize():f}"


def _as_number(value: Any) -> Decimal | None:
    try:
        number = Decimal(str(value)) if not isinstance(value, bool) and value is not None else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() else None


def _times(kind: str, named: Sequence[str]) -> Iterator[str]:
    if kind == "day":
        days = sorted(date.fromisoformat(one) for one in named) or [date(2026, 1, 1)]
        yield from ((one + timedelta(days=move)).isoformat() for one in days for move in (0, -1, 1))
        return
    moments = [datetime.fromisoformat(one) for one in named] or [datetime(2026, 1, 1)]
    for one in moments:
        for move in (0, -1, 1):
            moved = one + timedelta(milliseconds=move)
            yield f"{moved:%Y-%m-%dT%H:%M:%S}.{moved.microsecond // 1000:03}Z"
    yield from named


def _texts(named: Sequence[Any], parts: Sequence[str]) -> Iterator[Any]:
    yield "?"
    yield from named
    yield from (f"{one}!" for one in named)  # follows the text directly in the order of texts
    for number in range(1 << min(len(parts), _MOST_PARTS)):
        yield " ".join(part for at, part in enumerate(parts) if number >> at & 1)


def _lists(elements: Sequence[Any]) -> Iterator[list[Any]]:
    known = elements[:_MOST_PARTS]
    for number in range(1 << len(known)):
        yield [one for at, one in enumerate(known) if number >> at & 1]
