"""The running objects that the core and the plugins of one process provide, by their type or port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

Part = TypeVar("Part")


class Parts(dict[type, Any]):
    """The running objects: each is an instance of its key. Raises KeyError for what no loaded plugin provides.

    `Request.part` returns one of them; the lifecycle reads seven in each request, and saves the calls.
    """

    if TYPE_CHECKING:  # at run time it is the method of `dict`, which is written in C

        def __getitem__(self, kind: type[Part], /) -> Part:
            """Return the object that is registered under `kind`."""
