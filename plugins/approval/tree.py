"""The tree that the nodes of a flow make. The functions use plain values and no database.

Nodes are a list. A node with `branches` or `lanes` names those below it by their keys; the others, in their order, are
the main sequence. So whom a node asks is found at one depth, however deep the node stands in the flow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plugins.api.errors import FieldError

Node = Mapping[str, Any]
MAX_NODES, MAX_DEPTH = 60, 5
PARTS = ("branches", "lanes")


@dataclass(frozen=True)
class Place:
    """Where a node stands: in the part with this index of another node."""

    node: str
    index: int


@dataclass(frozen=True)
class Tree:
    """Nodes by key, the main sequence, and where each node below another one stands."""

    nodes: Mapping[str, Node]
    main: Sequence[str]
    above: Mapping[str, Place]

    def parts(self, key: str) -> Sequence[Sequence[str]]:
        """Return the sequences of keys below a node."""
        return [part["nodes"] for part in parts_of(self.nodes[key])]

    def sequence(self, key: str) -> Sequence[str]:
        """Return the sequence in which a node stands."""
        place = self.above.get(key)
        return self.main if place is None else self.parts(place.node)[place.index]

    def within(self, keys: Sequence[str]) -> Iterator[str]:
        """Yield the keys of a sequence, and those of all nodes below it."""
        for key in keys:
            yield key
            for part in self.parts(key):
                yield from self.within(part)

    def before(self, key: str) -> list[str]:
        """Return the nodes that were passed before this one in its sequence, and in those around it."""
        sequence = self.sequence(key)
        passed = [*sequence[: sequence.index(key)]]
        place = self.above.get(key)
        return passed if place is None else [*self.before(place.node), *passed]


@dataclass
class Path:
    """The nodes that a request goes through, and which branch it took at which node."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    taken: list[dict[str, Any]] = field(default_factory=list)
    open_node: str | None = None  # the node of whose branches none applies


def parts_of(node: Node) -> Sequence[Mapping[str, Any]]:
    """Return the branches or lanes of a node; an approver node has none."""
    return [part for name in PARTS for part in node.get(name) or ()]


def build_tree(nodes: Sequence[Node]) -> Tree:
    """Return the tree of nodes that `find_tree_faults` finds no fault with."""
    above = {
        key: Place(node["key"], index)
        for node in nodes
        for index, part in enumerate(parts_of(node))
        for key in part["nodes"]
    }
    return Tree({node["key"]: node for node in nodes}, [one["key"] for one in nodes if one["key"] not in above], above)


def find_path(nodes: Sequence[Node], choose: Callable[[Node], int | None]) -> Path:
    """Return the nodes that remain when `choose` picks the branch, by its index, at each node with branches.

    Lanes without nodes are left out. If none of the branches applies, the path has an `open_node`.
    """
    tree, path = build_tree(nodes), Path()
    below: list[dict[str, Any]] = []

    def walk(keys: Sequence[str]) -> Iterator[dict[str, Any]]:
        for key in keys:
            node = tree.nodes[key]
            if node.get("branches"):
                index = choose(node)
                if index is None:
                    path.open_node = path.open_node or key
                    continue
                branch = node["branches"][index]
                path.taken.append({"node": key, "name": node["name"], "branch": branch["name"], "index": index})
                yield from walk(branch["nodes"])
            elif node.get("lanes"):
                lanes = [(lane, [*walk(lane["nodes"])]) for lane in node["lanes"]]
                below.extend(one for _, inside in lanes for one in inside)
                kept = [{**lane, "nodes": [one["key"] for one in inside]} for lane, inside in lanes if inside]
                if kept:
                    yield {**node, "lanes": kept}
            else:
                yield dict(node)

    main = [*walk(tree.main)]
    path.nodes = [*main, *below]
    return path


def insert_node(nodes: Sequence[Node], node: dict[str, Any], beside: str, after: bool) -> list[dict[str, Any]]:
    """Return the nodes with one more, directly before or after another one in its sequence."""
    place, made = build_tree(nodes).above.get(beside), [dict(one) for one in nodes]
    if place is None:
        made.insert(next(at for at, one in enumerate(made) if one["key"] == beside) + after, node)
        return made
    holder = next(one for one in made if one["key"] == place.node)
    holder["lanes"] = [dict(lane) for lane in holder["lanes"]]
    keys = [*holder["lanes"][place.index]["nodes"]]
    keys.insert(keys.index(beside) + after, node["key"])
    holder["lanes"][place.index]["nodes"] = keys
    return [*made, node]


def find_tree_faults(nodes: Sequence[Node]) -> Iterator[FieldError]:
    """Yield what keeps the nodes from being a tree: parts that name unknown nodes, or one twice, and rings.

    A node has either approvers, or branches, or lanes, and stands at most `MAX_DEPTH` deep.
    """
    known, placed = {node["key"] for node in nodes}, set[str]()
    faults: list[FieldError] = []
    for number, node in enumerate(nodes):
        names = [name for name in PARTS if node.get(name)]
        if names and (node.get("approvers") or len(names) > 1):
            faults.append(FieldError(f"nodes[{number}].{names[-1]}", "invalid"))
        for name in PARTS:
            for index, part in enumerate(node.get(name) or ()):
                where = f"nodes[{number}].{name}[{index}].nodes"
                faults += [FieldError(where, "reference") for key in part["nodes"] if key not in known]
                faults += [FieldError(where, "duplicate") for key in part["nodes"] if key in placed]
                placed.update(part["nodes"])
    yield from faults
    if not faults:
        yield from _find_deep(nodes)


def _find_deep(nodes: Sequence[Node]) -> Iterator[FieldError]:
    tree = build_tree(nodes)
    for number, node in enumerate(nodes):
        depth, key = 1, node["key"]
        while depth <= MAX_DEPTH and key in tree.above:
            depth, key = depth + 1, tree.above[key].node
        if depth > MAX_DEPTH:  # also of a ring, which has no end
            yield FieldError(f"nodes[{number}]", "levels")
