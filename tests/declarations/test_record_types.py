"""`record_types.py` of the plugins is up to date, and each kind of field has its type."""

from __future__ import annotations

from handlers.data.collection import Collection
from handlers.schema.fields import array, choice, integer, mapping, money, obj, text, timestamp
from plugins.boot.registry import load_plugins
from plugins.commands.typed_records import render, typed_records


def test_the_types_are_those_of_the_collections() -> None:
    files = typed_records(load_plugins(()), "scripts/check --write")
    assert [path for path, text in files.items() if not path.is_file() or path.read_text() != text] == []


def test_each_kind_of_field_has_its_type() -> None:
    line = obj("Line", {"sku": text(required=True), "count": integer(), "from": integer(nullable=False)})
    fields = {
        "number": text(required=True),
        "status": choice("draft", "final", default="draft"),
        "total": money(nullable=False),
        "paid_at": timestamp(),
        "lines": array(line, nullable=False),
        "rates": mapping(money(nullable=False), nullable=False),
    }
    written = render("Acme", [Collection("acme_bills", "Acme.Bill", fields, plain=True, internal=("hint",))], "check")
    assert (
        written.partition("\n\n\n")[2]
        == '''\
Line = TypedDict(
    "Line",
    {
        "sku": "str",
        "count": "NotRequired[int | None]",
        "from": "int",
    },
)


class AcmeBill(TypedDict):
    """A record of `acme_bills`."""

    id: StoredId
    number: str
    status: Literal["draft", "final"]
    total: StoredAmount
    paid_at: datetime | None
    lines: list[Line]
    rates: dict[str, StoredAmount]
    hint: NotRequired[object]
'''
    )
