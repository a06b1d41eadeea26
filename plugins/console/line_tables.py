"""Tables of lines in forms: a row for each line, and what its record comes to.

Amounts are counted where they are kept: by the route `POST …/amounts` of a list, if there is one. It takes the lines and
whatever else of the body changes amounts, and returns the lines and the record with their amounts. Without it the table
shows the sum of the column `amount`: other columns of money that people fill in are prices.
"""

from collections.abc import Iterator, Mapping, Sequence

from plugins.api import Field, Route
from plugins.console.nodes import Node, node
from plugins.console.shown import lines
from plugins.console.viewer import Viewer

_CENTS = 2
_AMOUNT = "amount"


def table(fields: Mapping[str, Field], items: Sequence[Node]) -> Node:
    """Return the control for a list of objects; on a narrow screen each row is a card."""
    sizes = {"text": "wide", "money": "amount", "quantity": "amount"}
    kinds = {name: "wide" if field.ref else sizes.get(field.kind, "") for name, field in fields.items()}
    cells = [{**one, "className": f"cell {kinds.get(str(one['name']), '')}".strip()} for one in items]
    common = {"multiLine": True, "mode": "normal", "className": "lines"}
    return node("combo", multiple=True, items=cells, **common)


def totals(viewer: Viewer, shape: Field, controls: Sequence[Node]) -> Iterator[Node]:
    """Yield what shows the amounts of a body while its lines are entered, and give each line a cell for its own."""
    tables = {str(one["name"]): one for one in controls if one.get("className") == "lines"}
    counter = _counter(viewer, shape)
    for name, _, inside in lines(shape.fields or {}):
        money = {inner: viewer.label(inner, one) for inner, one in inside.items() if one.kind == "money"}
        if name not in tables or not money:
            continue
        given = {inner: label for inner, label in money.items() if inner == _AMOUNT and not inside[inner].read_only}
        if counter is None or counter.body is None or name not in (counter.returns.fields or {}):
            cells = tables[name]["items"]
            if given or (isinstance(cells, list) and any("aside" in str(one.get("className")) for one in cells)):
                yield node("totals", lines=name, sums=given, title=viewer.word("sum"))
            continue
        known, counted = (
            next(those for at, _, those in lines(one.fields or {}) if at == name)
            for one in (counter.body, counter.returns)
        )
        amounts = {inner: of for inner, of in counted.items() if of.kind == "money" and of.read_only}
        sums = [inner for inner, of in amounts.items() if of.places == _CENTS]
        last = _AMOUNT if _AMOUNT in sums else sums[-1]
        cells, asked = tables[name]["items"], [*known]
        seen = {one: tables[name][one] for one in ("visibleOn",) if one in tables[name]}
        if isinstance(cells, list):
            asked = [one["name"] for one in cells if one["name"] in known]
            cells.append(node("counted", label=viewer.label(last, counted[last]), className="cell amount"))
        kept = {one: of for one, of in (counter.returns.fields or {}).items() if of.kind == "money"}
        figures = {one: viewer.label(one, of) for one, of in kept.items()}
        sent = [one for one in counter.body.fields or {} if one != name]
        yield node("totals", lines=name, count=counter.path, sent=sent, asked=asked, cell=last, figures=figures, **seen)


def _counter(viewer: Viewer, shape: Field) -> Route | None:
    """Return the route that counts the amounts of records with this body, if the viewer may use it."""
    routes = viewer.site.catalogue.routes
    at = next((one.path.partition("/{id}")[0] for one in routes if one.body is shape), "")
    return next((one for one in routes if one.name == f"POST {at}/amounts" and viewer.may(one)), None)
