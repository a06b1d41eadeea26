"""The running objects that the core and the plugins of one process provide, by their type or port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

Part = TypeVar("Part")


class Port:
    """A question that may be answered by a plugin which need not be loaded: each method is a call with a typed result.

    What the methods of a port itself return is the answer without such a plugin. The plugin that answers provides an
    instance of a subclass under the port.
    """


class Parts(dict[type, Any]):
    """The running objects: each is an instance of its key. Raises KeyError for what no loaded plugin provides.

    A `Port` that none provides answers for itself.
    `Request.part` returns one of them; the lifecycle reads seven in each request, and saves the calls.
    """

    def __missing__(self, kind: type[Part]) -> Part:
        if issubclass(kind, Port):
            return kind()
        raise KeyError(kind)

    if TYPE_CHECKING:  # at run time it is the method of `dict`, which is written in C

        def __getitem__(self, kind: type[Part], /) -> Part:
            """Return the object that is registered under `kind`."""
