"""Events between plugins that need not be loaded together: every plugin may emit them and listen to them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from handlers.data.history.history import (
    caused_by as caused_by,  # let the history name a request for writes that outlive it
)
from handlers.events import (
    Events as Events,  # listeners and emitters of events
)
from plugins.api import find_moved
from plugins.records.shared_events import (
    APPROVAL_CANCELLED as APPROVAL_CANCELLED,  # end the approval of a record
    APPROVAL_FINISHED as APPROVAL_FINISHED,  # how an approval ended
    APPROVAL_REQUESTED as APPROVAL_REQUESTED,  # start the approval of a record
    CONFIG_CHANGING as CONFIG_CHANGING,  # options get other values
    DATA_RESET as DATA_RESET,  # all records of some plugins were removed
    NOTIFY_PROGRESS as NOTIFY_PROGRESS,  # show the progress of work
)

if not TYPE_CHECKING:
    __getattr__ = partial(find_moved, __name__, ("business",))
