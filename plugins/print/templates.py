"""The templates of a company over HTTP: each is tried before it is stored."""

from __future__ import annotations

from typing import cast

from plugins.api import SIGNED_IN, Record, Request, Response, Route, crud, invalid, route
from plugins.api.errors import TOO_LARGE
from plugins.api.records import Catalogue
from plugins.api.reports import Papers, Printable
from plugins.print.papers import PDF, TypesetPapers, standard_source
from plugins.print.records import PAPERS, PREVIEW, STANDARD, TEMPLATES


async def create(req: Request) -> Record:
    """Create a template. Raises 40001 for one that cannot be typeset."""
    await _try(req, req.body)
    return await req.store(TEMPLATES).create(req.body)


async def update(req: Request) -> Record:
    """Change a template, with the same checks."""
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(TEMPLATES).get(req.path["id"])
    await _try(req, {**before, **values})
    return await req.store(TEMPLATES).update(req.path["id"], values, version=version)


async def preview(req: Request) -> Response:
    """Return a template with examples, as a PDF. Raises 40001 for one that cannot be typeset."""
    pdf = await _papers(req).preview(req, req.body)
    headers = {"Content-Disposition": f'attachment; filename="{req.body["paper"]}-preview.pdf"'}
    return Response(200, pdf, headers, PDF)


async def list_papers(req: Request) -> Record:
    """Return what can be printed, and the built-in template."""
    papers = req.part(Catalogue).of_kind(Printable)
    return {
        "papers": [{"name": one.name, "title": one.title.text(req.language)} for one in papers],
        "source": standard_source(),
    }


async def _try(req: Request, values: Record) -> None:
    if values["name"] == STANDARD:
        raise invalid("name", "reserved")
    await _papers(req).preview(req, values)


def _papers(req: Request) -> TypesetPapers:
    return cast(TypesetPapers, req.part(Papers))


ROUTES: tuple[Route, ...] = (
    *crud(TEMPLATES, at="/api/v1/print/templates", resource="system:print-template", create=create, update=update),
    route(
        "POST /api/v1/print/templates/preview",
        preview,
        summary="Show a print template with examples",
        title=("预览打印模板", "Preview"),
        access="system:print-template:preview",
        body=PREVIEW,
        bare=PDF,
        errors=(TOO_LARGE,),
    ),
    route(
        "GET /api/v1/print/papers",
        list_papers,
        summary="List what can be printed, with the built-in template",
        title=("可打印的单据", "Papers"),
        access=SIGNED_IN,
        returns=PAPERS,
    ),
)
