"""State machines: the states of a record, and the actions that lead from one to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Unpack

from handlers.schema.errors import CONFLICT, ApiError, ErrorKind
from handlers.schema.fields import Field, FieldOptions, choice
from handlers.schema.messages import NOT_IN_STATE, STATUS, Message, as_message
from handlers.schema.values import ReadOnlyRecord


@dataclass(frozen=True)
class Transition:
    """One action: the states that it starts from (`sources`), and the one that it leads to (`target`).

    `label` is the action in both languages, as a button shows it; an action with a route has one. `event` is emitted
    each time. `decides`: the action is a decision, which people do not make on their own requests. `refusal` is the
    message of the 40901 in any other state, or an error of the plugin; the default is that of the state machine.
    """

    sources: tuple[str, ...]
    target: str
    label: Message | None = None
    event: str = ""
    decides: bool = False
    refusal: Message | ErrorKind | None = None

    def __init__(
        self,
        sources: str | tuple[str, ...],
        target: str,
        label: tuple[str, str] | None = None,
        *,
        event: str = "",
        decides: bool = False,
        refusal: Message | ErrorKind | None = None,
    ) -> None:
        given = (sources,) if isinstance(sources, str) else tuple(sources)
        words = as_message(label) if label is not None else None
        _set(self, sources=given, target=target, label=words, event=event, decides=decides, refusal=refusal)


@dataclass(frozen=True)
class StateMachine:
    """The states of a record with their labels, and the transitions between them by action.

    `field` is the field of the record that holds the state, `record` is what events call the record. `refusal` is the
    message of the 40901 for an action that the state does not allow. Labels may be given as pairs of Chinese and
    English, and a transition without further options as the pair `((state, …), state)`. `done` are the states in which
    a record is settled well, `refused` those in which it is not: pages show them in green and in red.
    """

    name: str
    initial: str
    states: Mapping[str, Message]
    transitions: Mapping[str, Transition]
    field: str = "status"
    record: str = "record"
    refusal: Message = NOT_IN_STATE
    done: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def __init__(
        self,
        name: str,
        initial: str,
        states: Mapping[str, tuple[str, str]],
        transitions: Mapping[str, Transition | tuple[tuple[str, ...], str]],
        *,
        field: str = "status",
        record: str = "record",
        refusal: Message = NOT_IN_STATE,
        done: tuple[str, ...] = (),
        refused: tuple[str, ...] = (),
    ) -> None:
        labels = {state: as_message(label) for state, label in states.items()}
        moves = {
            action: one if isinstance(one, Transition) else Transition(*one) for action, one in transitions.items()
        }
        _set(self, name=name, initial=initial, states=labels, transitions=moves)
        _set(self, field=field, record=record, refusal=refusal, done=done, refused=refused)

    def choice(self, **options: Unpack[FieldOptions]) -> Field:
        """Return the field with the state: one of the states, at first the initial one, written only by actions."""
        given: FieldOptions = {"label": STATUS, "read_only": True, "default": self.initial, **options}
        return choice(*self.states, **given)

    def allows(self, *actions: str) -> dict[str, object]:
        """Return the filter for records whose state allows one of the actions."""
        sources = [state for action in actions for state in self.transitions[action].sources]
        return {self.field: {"$in": list(dict.fromkeys(sources))}}

    def permits(self, record: ReadOnlyRecord, action: str) -> bool:
        """Return whether the state of the record allows the action."""
        return record[self.field] in self.transitions[action].sources

    def holds_evidence(self, record: ReadOnlyRecord) -> bool:
        """Return whether a record is submitted or decided, so that what it was decided by must stay.

        True of records that somebody decides on, as soon as they have left their initial state.
        """
        return self.keeps_evidence and record[self.field] != self.initial

    @property
    def keeps_evidence(self) -> bool:
        """Whether somebody decides on such records."""
        return any(one.decides for one in self.transitions.values())

    def after(self, action: str) -> str:
        """Return the state that the action leads to."""
        return self.transitions[action].target

    def label_of(self, action: str) -> Message:
        """Return what people call the action; one that only the service takes is called by its target state."""
        return self.transitions[action].label or self.states[self.after(action)]

    def color_of(self, state: str) -> str:
        """Return the colour of a state, in the words of dictionaries; a dictionary of the states may name others."""
        if state in self.done:
            return "green"
        return "red" if state in self.refused else "gray" if state == self.initial else "blue"

    def leads_to(self, before: str, target: str) -> bool:
        """Return whether an action leads from one state directly to the other."""
        return any(before in one.sources and target == one.target for one in self.transitions.values())

    def refuse(self, action: str) -> ApiError:
        """Return the error for a record whose state does not allow the action."""
        refusal = self.transitions[action].refusal or self.refusal
        return ApiError(refusal) if isinstance(refusal, ErrorKind) else ApiError(CONFLICT, refusal)

    @property
    def ended(self) -> frozenset[str]:
        """The states that no transition leads out of."""
        left = {state for one in self.transitions.values() for state in one.sources if state != one.target}
        return frozenset(self.states) - left

    @property
    def undecided(self) -> tuple[str, ...]:
        """The states of a record that is still a draft, unless it is settled at once, or that waits for a decision."""
        waiting = {state for one in self.transitions.values() if one.decides for state in one.sources}
        return tuple(one for one in self.states if one in waiting or (one == self.initial and one not in self.done))

    def reachable(self) -> frozenset[str]:
        """Return the initial state and all states that actions lead to from it."""
        found, waiting = {self.initial}, [self.initial]
        while waiting:
            state = waiting.pop()
            targets = {one.target for one in self.transitions.values() if state in one.sources} - found
            found |= targets
            waiting += targets
        return frozenset(found)


def _set(declaration: object, **values: object) -> None:
    for name, value in values.items():
        object.__setattr__(declaration, name, value)
