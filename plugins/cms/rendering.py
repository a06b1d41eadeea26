"""The HTML of articles, sanitised before it is stored: in a worker process unless it is short and simple."""

from __future__ import annotations

from plugins.api import Request, invalid
from plugins.api.workers import Lane, TooCostly, WorkFailed
from plugins.cms.cleaning import clean
from plugins.cms.complexity import TooComplex, estimate_elements
from plugins.cms.records import MAX_HTML

_SHORT, _FEW_ELEMENTS = 4000, 5000  # sanitised in under 5 ms in the worst case, so a worker process is not worth it


class Renderer:
    """Makes the HTML of articles. `lane` runs expensive work in worker processes."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    async def from_html(self, html: str, req: Request | None = None) -> str:
        """Return `html` sanitised. Raises 40001 if the result is too long or the work too expensive."""
        if len(html) > _SHORT:
            return await self._run("content", "plugins.cms.cleaning:clean_html", html, req)
        try:
            if estimate_elements(html) <= _FEW_ELEMENTS:
                return clean(html)
        except TooComplex as error:
            raise invalid("content", "cost") from error
        return await self._run("content", "plugins.cms.cleaning:clean_html", html, req)

    async def from_markdown(self, source: str, req: Request | None = None) -> str:
        """Return the sanitised HTML of `source` (CommonMark, with tables and strikethrough)."""
        return await self._run("source", "plugins.cms.cleaning:clean_markdown", source, req)

    async def _run(self, field: str, function: str, text: str, req: Request | None) -> str:
        try:
            html = (await self._lane.run(function, text.encode(), request=req)).decode()
        except TooCostly as error:
            raise invalid(field, "cost") from error
        except WorkFailed as failure:
            raise _translate_failure(field, failure) from failure
        # the result may be longer than the input: "<" is stored as "&lt;", and Markdown as tags
        if len(html) > MAX_HTML:
            raise invalid(field, "maxLength")
        return html


def _translate_failure(field: str, failure: WorkFailed) -> Exception:
    return invalid(field, "cost") if failure.kind == TooComplex.__name__ else failure
