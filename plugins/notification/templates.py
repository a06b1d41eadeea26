"""Templates of e-mails, which administrators edit: a part of Jinja that cannot reach, loop or compute.

A template may insert the values below, choose with `if`, and use a few filters. Whatever else Jinja has (attributes,
calls, loops, arithmetic, includes) is refused when the template is saved, so rendering costs as much as its length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from jinja2 import Template, TemplateError, nodes
from jinja2.sandbox import SandboxedEnvironment

VALUES = ("title", "body", "link", "name", "kind")
MAX_NODES = 1000
_FILTERS = ("e", "escape", "upper", "lower", "trim", "truncate", "default")
_ALLOWED = (
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Const,
    nodes.If,
    nodes.Filter,
    nodes.Not,
    nodes.And,
    nodes.Or,
    nodes.Compare,
    nodes.Operand,
)


class TemplateRefused(ValueError):
    """A template has more than is allowed; the message says what."""


@dataclass(frozen=True)
class MailTemplate:
    """The sources of an e-mail: `html` may be missing."""

    subject: str
    text: str
    html: str | None = None


@dataclass(frozen=True)
class RenderedMail:
    """The texts of an e-mail."""

    subject: str
    text: str
    html: str | None


def render(template: MailTemplate, values: Mapping[str, str]) -> RenderedMail:
    """Return the texts of an e-mail with these `VALUES`. Raises `TemplateRefused`."""
    html = _render(template.html, values, True) if template.html else None
    return RenderedMail(_render(template.subject, values, False), _render(template.text, values, False), html)


def check(source: str) -> None:
    """Raise `TemplateRefused` unless the source of a template keeps to what is allowed."""
    try:
        found = list(_environment(True).parse(source).find_all(nodes.Node))
    except (TemplateError, RecursionError, SyntaxError, ValueError, MemoryError) as error:
        raise TemplateRefused(f"{type(error).__name__}: {error}"[:200]) from error
    if len(found) > MAX_NODES:
        raise TemplateRefused(f"more than {MAX_NODES} parts")
    for node in found:
        if not isinstance(node, _ALLOWED):
            raise TemplateRefused(type(node).__name__)
        if isinstance(node, nodes.Name) and node.name not in VALUES:
            raise TemplateRefused(node.name[:100])
        if isinstance(node, nodes.Filter) and not _is_plain(node):
            raise TemplateRefused(node.name[:100])


def _is_plain(node: nodes.Filter) -> bool:
    constant = all(isinstance(one, nodes.Const) for one in node.args)
    return node.name in _FILTERS and constant and not (node.kwargs or node.dyn_args or node.dyn_kwargs)


def _render(source: str, values: Mapping[str, str], html: bool) -> str:
    try:
        return _compile(source, html).render({name: values.get(name, "") for name in VALUES})
    except (TemplateError, RecursionError, SyntaxError, ValueError, TypeError, MemoryError) as error:
        raise TemplateRefused(f"{type(error).__name__}: {error}"[:200]) from error


@lru_cache(maxsize=200)
def _compile(source: str, html: bool) -> Template:
    check(source)
    return _environment(html).from_string(source)


@lru_cache(maxsize=2)
def _environment(html: bool) -> SandboxedEnvironment:
    environment = SandboxedEnvironment(autoescape=html, keep_trailing_newline=True)
    environment.globals.clear()
    environment.filters = {name: environment.filters[name] for name in _FILTERS}
    environment.tests.clear()
    return environment
