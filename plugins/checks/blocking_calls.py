"""Finds handlers, listeners and jobs that wait in the event loop, where nothing else of the process runs meanwhile."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import FunctionType, ModuleType

from plugins.plugin import Plugin
from plugins.records.lifecycles import ActionHandler

# what waits, by the module that defines it
_WAITING = {
    "time": ("sleep",),
    "subprocess": ("run", "call", "check_call", "check_output"),
    "urllib.request": ("urlopen", "urlretrieve"),
    "requests.api": ("get", "post", "put", "patch", "delete", "head", "request"),
    "httpx": ("get", "post", "put", "patch", "delete", "head", "request"),
}
_MODULES = frozenset(_WAITING) | {"urllib", "requests"}


def wait_problems(plugin: Plugin) -> Iterator[str]:
    """Yield a sentence for each asynchronous function of the plugin that itself calls what makes the process wait."""
    functions = [(f"route {one.name}", function) for one in plugin.routes for function in _functions_of(one.handler)]
    functions += [(f"job {one.name}", one.work) for one in plugin.jobs]
    functions += [(f"listener {getattr(one.call, '__name__', '')}", one.call) for one in plugin.listens]
    for what, function in functions:
        for name in dict.fromkeys(_waits_in(_innermost(function))):
            instead = "asyncio.sleep" if name == "time.sleep" else f"asyncio.to_thread({name}, …)"
            yield (
                f"Plugin {plugin.name}: {what} calls {name}, during which the process answers nobody: await {instead}."
            )


def _functions_of(handler: Callable[..., object]) -> Iterable[Callable[..., object]]:
    """Return the functions of a plugin that a handler is or, for an action, calls."""
    if not isinstance(handler, ActionHandler):
        return [handler]
    action = handler.action
    hooks = (action.before, action.values, action.choose, action.after, action.within, action.respond)
    return [hook for hook in hooks if hook is not None]


def _innermost(function: Callable[..., object]) -> Callable[..., object]:
    unwrapped = inspect.unwrap(function)
    return _innermost(unwrapped.func) if isinstance(unwrapped, partial) else unwrapped


def _waits_in(function: Callable[..., object]) -> Iterator[str]:
    if not inspect.isfunction(function) or not any(_may_wait(function, name) for name in function.__code__.co_names):
        return
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except OSError:  # made without a file
        return
    for called in _calls(ast.parse(source).body[0]):
        value = _value(called, function.__globals__)
        module, name = str(getattr(value, "__module__", None)), getattr(value, "__name__", "")
        if name in _WAITING.get(module, ()):
            yield f"{module.removesuffix('.api')}.{name}"


def _may_wait(function: FunctionType, name: str) -> bool:
    value = function.__globals__.get(name)
    return getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", None) in _MODULES


def _calls(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what is called in a function, without the functions that it makes, which may run elsewhere."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.Call):
            yield child.func
        yield from _calls(child)


def _value(called: ast.expr, names: dict[str, object]) -> object:
    if isinstance(called, ast.Attribute):
        return getattr(_value(called.value, names), called.attr, None)
    return names.get(called.id) if isinstance(called, ast.Name) else None
