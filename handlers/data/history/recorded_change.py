"""Changes that record themselves: one command changes a record and notes in it what the fields held before.

MongoDB evaluates the expressions of one `$set` stage against the record as it was, so the note cannot differ from the
change, and neither is ever stored without the other. `history.py` reads the notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from handlers.data.collection import HISTORY, UNSENT, Collection
from handlers.schema.values import Operators, Values

Stage = Mapping[str, Any]
_NUMBER: Stage = {"$add": [{"$ifNull": [f"${HISTORY}.n", 0]}, 1]}
_NOTES: Stage = {"$ifNull": [f"${HISTORY}.pending", []]}


def recorded_change(
    collection: Collection, values: Values, operators: Operators | None, note: Values
) -> Sequence[Stage]:
    """Return the update pipeline for `values` and update operators, which increases the version and adds `note`.
    Raises ValueError for an operator that has no equivalent in a pipeline, and for a path to an item of a list.
    """
    new: dict[str, Any] = dict(_expressions(operators or {}))
    before = {name: _old(name) for name in map(_field_of, new) if name in collection.recorded}
    for name, value in values.items():
        new[name] = given = _literal(value)
        if name in collection.recorded:
            before[name] = {"$cond": [{"$eq": [f"${name}", given]}, "$$REMOVE", _old(name)]}
    version = {"$add": ["$version", 1]}
    return [{"$set": {**new, "version": version, **_noted({**note, "version": version}, before)}}]


def recorded_update(
    collection: Collection, update: Operators | Sequence[Operators], note: Values
) -> Operators | Sequence[Stage]:
    """Return `update`, extended to add `note` if it writes fields that the history of `collection` shows."""
    if isinstance(update, Mapping):
        names = {_field_of(name) for changes in update.values() for name in changes}
        stages: Sequence[Stage] = ()
    else:
        names = {_field_of(name) for stage in update for name in _names(stage)}
        stages = update
    before = {name: _old(name) for name in sorted(names) if name in collection.recorded}
    if not before:
        return update
    version = {"$add": ["$version", 1]} if "version" in names else "$version"
    noted = _noted({**note, "version": version}, before)
    if isinstance(update, Mapping):
        return [{"$set": {**dict(_expressions(update)), **noted}}]
    return [{"$set": noted}, *stages]


def _noted(note: Values, before: Values) -> dict[str, Any]:
    entry = {name: _literal(value) if name != "version" else value for name, value in note.items()}
    marked = entry.pop(UNSENT, False)
    entry |= {"n": _NUMBER, "before": before or {"$literal": {}}}
    unsent = {f"{HISTORY}.{UNSENT}": {"$ifNull": [f"${HISTORY}.{UNSENT}", _NUMBER]}} if marked else {}
    return {**unsent, f"{HISTORY}.n": _NUMBER, f"{HISTORY}.pending": {"$concatArrays": [_NOTES, [entry]]}}


def _names(stage: Stage) -> Iterator[str]:
    for operator, content in stage.items():
        if operator in ("$set", "$addFields"):
            yield from content
        elif operator == "$unset":
            yield from [content] if isinstance(content, str) else content
        else:
            raise ValueError(f"the history of a record cannot follow the stage {operator} of an update")


def _field_of(path: str) -> str:
    return path.partition(".")[0]


def _old(name: str) -> Stage:
    return {"$ifNull": [f"${name}", None]}


def _literal(value: Any) -> Any:
    """Return the value as an expression: MongoDB could take texts and documents for expressions."""
    return {"$literal": value} if isinstance(value, (str, Mapping, list, tuple)) else value


def _expressions(operators: Operators) -> Iterator[tuple[str, Any]]:
    """Yield each field with its new value as an expression."""
    for operator, changes in operators.items():
        translate = _OPERATORS.get(operator)
        if translate is None:
            raise ValueError(f"the history of a record cannot follow {operator}; it can {', '.join(_OPERATORS)}")
        for name, value in changes.items():
            if any(part.isdigit() or part.startswith("$") for part in name.split(".")):
                raise ValueError(f"the history of a record cannot follow {name}: change the whole list")
            yield name, translate(f"${name}", value)


def _extreme(comparison: str) -> Callable[[str, Any], Any]:
    def translate(field: str, value: Any) -> Stage:
        stays = {"$and": [{"$ne": [{"$type": field}, "missing"]}, {comparison: [field, _literal(value)]}]}
        return {"$cond": [stays, field, _literal(value)]}

    return translate


def _list(field: str) -> Stage:
    return {"$ifNull": [field, []]}


def _each(value: Any) -> list[Any]:
    return list(value["$each"]) if isinstance(value, Mapping) and "$each" in value else [value]


def _push(field: str, value: Any) -> Stage:
    if isinstance(value, Mapping) and "$each" in value and not set(value) <= {"$each", "$slice"}:
        raise ValueError("the history of a record cannot follow $push with other modifiers than $each and $slice")
    added: Stage = {"$concatArrays": [_list(field), {"$literal": _each(value)}]}
    if isinstance(value, Mapping) and "$each" in value and "$slice" in value:
        return {"$slice": [added, value["$slice"]]}
    return added


def _add_to_set(field: str, value: Any) -> Stage:
    missing = {"$not": [{"$in": ["$$this", _list(field)]}]}
    new = {"$filter": {"input": {"$literal": _each(value)}, "as": "this", "cond": missing}}
    return {"$concatArrays": [_list(field), new]}


def _pull(field: str, value: Any) -> Stage:
    if isinstance(value, Mapping) and set(value) == {"$in"}:
        matches: Stage = {"$in": ["$$this", {"$literal": list(value["$in"])}]}
    elif isinstance(value, Mapping):
        if any(name.startswith("$") or isinstance(part, Mapping) for name, part in value.items()):
            raise ValueError("the history of a record cannot follow $pull with conditions; it can with values and $in")
        matches = {"$and": [{"$eq": [f"$$this.{name}", _literal(part)]} for name, part in value.items()]}
    else:
        matches = {"$eq": ["$$this", _literal(value)]}
    return {"$filter": {"input": _list(field), "as": "this", "cond": {"$not": [matches]}}}


_OPERATORS: Mapping[str, Callable[[str, Any], Any]] = {
    "$set": lambda field, value: _literal(value),
    "$unset": lambda field, value: "$$REMOVE",
    "$inc": lambda field, value: {"$add": [{"$ifNull": [field, 0]}, value]},
    "$max": _extreme("$gt"),
    "$min": _extreme("$lt"),
    "$push": _push,
    "$addToSet": _add_to_set,
    "$pull": _pull,
}
