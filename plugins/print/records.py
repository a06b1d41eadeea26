"""The templates of a company, and the shapes of requests about papers."""

from __future__ import annotations

from plugins.api import Collection, Index, Message, View, array, boolean, choice, obj, record_name, shape, text
from plugins.api.records import Catalogue
from plugins.api.reports import Printable

STANDARD = "standard"
MAX_SOURCE = 60_000


def _titles_of_papers(catalogue: Catalogue) -> dict[str, Message]:
    return {one.name: one.title for one in catalogue.of_kind(Printable)}


_PAPER = text(
    label=("单据", "Paper"),
    required=True,
    max_length=50,
    filter=True,
    labels=_titles_of_papers,
    example="sales-order",
    description="One of those that `GET /api/v1/print/papers` lists.",
)
TEMPLATES = Collection(
    name="print_templates",
    title="PrintTemplate",
    noun=Message("打印模板", "print template"),
    fields={
        "name": record_name(
            label=("模板名称", "Name"),
            max_length=50,
            example="letterhead",
            description="The value of `template` when something is printed; not `standard`, the built-in one.",
        ),
        "paper": _PAPER,
        "language": choice("zh", "en", label=("语言", "Language"), required=True, filter=True),
        "preferred": boolean(
            label=("默认使用", "Preferred"),
            default=False,
            nullable=False,
            description="Whether it is used when no template is named; of several, the one that was changed last.",
        ),
        "source": text(
            label=("模板内容", "Source"),
            required=True,
            max_length=MAX_SOURCE,
            description="In Typst. `GET /api/v1/print/papers` has the built-in one to begin with.",
            example="#let paper = json(bytes(sys.inputs.paper))\n= #paper.title #paper.number",
        ),
    },
    indexes=(Index("paper", "language", "name", unique=True),),
)
VIEW = View(
    TEMPLATES,
    columns=("name", "paper", "language", "preferred"),
    widgets={"source": {"type": "textarea", "minRows": 20}},
)
PREVIEW = shape("PrintPreview", **{name: TEMPLATES.fields[name] for name in ("paper", "language", "source")})
PAPERS = shape(
    "Papers",
    papers=array(
        obj("Paper", {"name": text(nullable=False), "title": text(nullable=False)}, nullable=False), nullable=False
    ),
    source=text(max_length=MAX_SOURCE, nullable=False, description="The built-in template, which suits every paper."),
)
CHECKED = shape(
    "PaperChecked",
    status=choice(
        "equal",
        "older",
        "altered",
        nullable=False,
        description="`equal`: the record prints the same today; `older`: it has changed since, or was deleted; `altered`: "
        "the token is none of ours, or not that of a paper with this number and total.",
    ),
)
