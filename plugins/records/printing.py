"""What can be printed: `Printable` declares a paper, and the plugin that provides `Papers` makes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from handlers.data.collection import Collection
from handlers.lifecycle import Response
from handlers.request import Request
from handlers.route import Route, route
from handlers.schema.errors import TOO_LARGE
from handlers.schema.fields import Field, choice, text
from handlers.schema.messages import Message
from handlers.schema.values import ReadOnlyRecord
from handlers.service import Port

PDF = "application/pdf"
QUERY: Mapping[str, Field] = {
    "template": text(
        max_length=50,
        nullable=False,
        example="standard",
        description="The name of a template; `standard` is the built-in one. Unless given, the company's own for this paper.",
    ),
    "language": choice("zh", "en", nullable=False, description="That of the request unless given."),
}


@dataclass(frozen=True)
class Printable:
    """A paper, made from what is read at the path `at`, with the permission `access`: `GET <at>/print`.

    `name` tells it from other papers: `invoice`. `shape` is what is printed: the record of `collection` unless given, with
    `read` as its reader. `query`: the parameters that say what is read, besides the id in the path.
    All others name fields of the shape: `number` and `total` are what somebody compares who holds the paper; `party` is
    whom it is for, `facts` are shown beside that, `lines` is the list of rows with these `columns`, `totals` come below
    it, `notes` are texts below these. Lines with a `currency` are in a table for each. `tables` come below the lines: the title
    of each, the list of its rows, and its columns; one without rows is left out. `letter` is printed before the lines, or
    `foreign_letter` if the record has a `stated_in`, the currency of its totals. `signed_by`: who signs.
    """

    name: str
    title: Message
    at: str
    access: str
    collection: Collection
    number: str = ""
    total: str = ""
    party: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    lines: str = ""
    columns: tuple[str, ...] = ()
    tables: tuple[tuple[Message, str, tuple[str, ...]], ...] = ()
    totals: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    letter: Message | None = None
    foreign_letter: Message | None = None
    signed_by: tuple[Message, ...] = ()
    query: Mapping[str, Field] = field(default_factory=dict)
    shape: Field | None = None
    read: Callable[[Request], Awaitable[ReadOnlyRecord]] | None = None

    @property
    def printed(self) -> Field:
        """The shape of what is printed."""
        return self.shape or self.collection.read

    async def find(self, req: Request) -> ReadOnlyRecord:
        """Return what is printed, as far as the caller may see it. Raises 40400."""
        if self.read is not None:
            return await self.read(req)
        record: ReadOnlyRecord = await req.store(self.collection).get(req.path["id"])
        return record

    @property
    def names(self) -> Iterator[str]:
        """All names of fields of the shape."""
        single = (one for one in (self.number, self.total, self.lines, *(rows for _, rows, _ in self.tables)) if one)
        yield from (*single, *self.party, *self.facts, *self.totals, *self.notes)


class Papers(Port):
    """Makes papers. A plugin provides it; without one there are no routes that print."""

    async def print(self, req: Request, printable: Printable) -> Response:
        """Return the paper of the record that a request names, as a PDF."""
        raise NotImplementedError


@dataclass(frozen=True)
class Print:
    """The handler of a route that prints."""

    printable: Printable

    async def __call__(self, req: Request) -> Response:
        """Return the PDF."""
        return await req.part(Papers).print(req, self.printable)


def print_routes(printables: Iterable[Printable]) -> Iterator[Route]:
    """Yield the route that prints each of these."""
    for one in printables:
        yield route(
            f"GET {one.at}/print",
            Print(one),
            summary=f"Print the {one.title.en.lower()}",
            title=(f"打印{one.title.zh}", f"Print the {one.title.en.lower()}"),
            access=one.access,
            query={**QUERY, **one.query},
            bare=PDF,
            errors=(TOO_LARGE,),
            collection=one.collection.name,
        )
