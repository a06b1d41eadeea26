"""Makes a PDF of a template and a paper with Typst. Runs in a worker process, which imports nothing but this.

While a template runs, the process can open neither a file nor a connection: its limit of open files is zero. The compiler
and the fonts are in memory by then.
"""

from __future__ import annotations

import re
import resource
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import cast

import orjson

_FONTS = "pylopdf_fonts_zh_cn"
_NOWHERE = "/dev/null"
_SOURCE = re.compile(r"\S{0,100}__typst_py_bytes__\.typ")  # what the compiler calls a template
# every font is read into memory by the first use
_WARM = '#text(font: "Noto Sans SC")[Aa 中文] #text(font: "Noto Serif SC")[Aa 中文]'.encode()


class TemplateRefused(Exception):
    """Typst refuses the template; the message says why and where."""


class NotInstalled(Exception):
    """The compiler or the fonts are missing; the message names them."""


def typeset(pieces: Iterator[bytes]) -> bytes:
    """Return the PDF. The input is JSON: `source`, the template; `paper`, its data; `link` for the QR code, or empty.

    The same input gives the same bytes.
    """
    job = orjson.loads(b"".join(pieces))
    compile = _compiler()
    paper = {**job["paper"], "check": _check_of(job["link"])}
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        return compile(job["source"].encode(), {"paper": orjson.dumps(paper).decode()})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _check_of(link: str) -> dict[str, str] | None:
    """Return the link and its QR code as SVG, or None without a link."""
    if not link:
        return None
    import segno

    return {"link": link, "qr": segno.make(link, error="m", micro=False).svg_inline(border=0)}


@lru_cache(maxsize=1)
def _compiler() -> Callable[[bytes, dict[str, str]], bytes]:
    """Return a function of a template and its inputs; raise `NotInstalled` without the compiler or the fonts."""
    try:
        import typst

        folder = Path(str(files(_FONTS)))
    except ImportError as error:
        raise NotInstalled(error.name or str(error)) from error
    fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[folder])
    if not fonts.families():
        raise NotInstalled(_FONTS)
    # neither the root nor the packages are there
    made = typst.Compiler(
        b"",
        root=_NOWHERE,
        font_paths=fonts,
        ignore_system_fonts=True,
        package_path=_NOWHERE,
        package_cache_path=_NOWHERE,
    )
    made.compile(_WARM, format="pdf")

    def compile(source: bytes, inputs: dict[str, str]) -> bytes:
        try:
            return cast(bytes, made.compile(source, format="pdf", sys_inputs=inputs, timestamp=0))
        except typst.TypstError as error:
            raise TemplateRefused(_SOURCE.sub("template.typ", error.diagnostic or error.message)) from error

    return compile
