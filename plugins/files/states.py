"""The state machine of files."""

from __future__ import annotations

from plugins.api import StateMachine, Transition

# `arriving`: being uploaded; `expected`: a signed address was given out; `leaving`: being removed by the sweep
FILE_STATES = StateMachine(
    name="files_object",
    initial="arriving",
    states={
        "arriving": ("上传中", "Uploading"),
        "expected": ("待上传", "Awaiting upload"),
        "stored": ("已存储", "Stored"),
        "leaving": ("清理中", "Being removed"),
    },
    transitions={
        "expect": Transition("arriving", "expected"),
        "arrive": Transition("expected", "arriving"),
        # also from `stored`, because a client or the sweep may repeat what was interrupted
        "store": Transition(("arriving", "expected", "stored"), "stored"),
        "leave": Transition(("arriving", "expected", "stored", "leaving"), "leaving"),
    },
    field="state",
)
