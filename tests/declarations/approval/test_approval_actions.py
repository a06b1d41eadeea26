"""What people do with an approval has a label."""

from __future__ import annotations

from plugins.approval.states import STATES, TASK_STATES
from plugins.approval.texts import DICTIONARIES


def test_every_step_of_a_history_has_a_label() -> None:
    values = {one.type: {*one.entries} for one in DICTIONARIES}
    steps = (STATES.transitions.keys() - {"approve"}) | (TASK_STATES.transitions.keys() - {"wait", "resume", "cancel"})
    steps |= {f"overdue-{rule}" for rule in values["approval_overdue"] - {"remind"}}
    steps |= {f"add-signer-{place}" for place in values["approval_place"]} | {"delegate", "comment"}
    assert steps == values["approval_action"]
