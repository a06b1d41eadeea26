"""`transitions()` makes routes from a state machine, and says what is wrong with a declaration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.data.states import StateMachine, Transition
from plugins.api import (
    Action,
    Approval,
    Collection,
    ErrorKind,
    Message,
    Step,
    boolean,
    conflicts,
    obj,
    text,
    transitions,
)
from plugins.api.errors import STALE
from plugins.api.events import APPROVAL_REQUESTED
from plugins.api.ports import REFUSES_OWN
from plugins.api.records import bars_of

AT = "/api/v1/acme/letters/{id}"
SEALED = Message("已封存", "It is sealed")
OPEN_ONLY = Message("仅限打开的信件", "Only open letters")
WORN_OUT = ErrorKind("acme.worn_out", 60001, 409, Message("已磨损", "Worn out"))
STATES = StateMachine(
    "acme_letter",
    "draft",
    states={"draft": ("草稿", "Draft"), "open": ("打开", "Open"), "sent": ("已寄出", "Sent")},
    transitions={
        "open": Transition("draft", "open", ("打开", "Open"), event="acme.letter.opened"),
        "send": Transition("open", "sent", ("寄出", "Send"), decides=True, refusal=OPEN_ONLY),
        "lose": Transition(("open", "sent"), "draft", refusal=WORN_OUT),
    },
)
LETTERS = Collection(
    name="acme_letters",
    title="OpenLetter",
    fields={"text": text(), "sealed": boolean(), "status": STATES.choice()},
    states=STATES,
)


async def nothing(step: Step) -> None:
    """A hook that does nothing."""


def not_async(step: Step) -> None:
    """A hook that is no coroutine function."""


def act(name: str, **options: object) -> Action:
    """An action that would do."""
    return Action(f"POST {AT}/{name}", access=f"acme:letter:{name}", **options)  # type: ignore[arg-type]  # options of several types


def test_a_route_says_all_that_follows_from_the_transition() -> None:
    opened, sent, lost = transitions(LETTERS, act("open"), act("send"), act("lose"))
    assert [(route.name, route.access, route.summary, route.collection) for route in (opened, sent, lost)] == [
        (f"POST {AT}/open", "acme:letter:open", "Open an open letter", "acme_letters"),
        (f"POST {AT}/send", "acme:letter:send", "Send an open letter", "acme_letters"),
        (f"POST {AT}/lose", "acme:letter:lose", "Lose an open letter", "acme_letters"),
    ]
    assert opened.refusals == conflicts(STATES.refusal)
    assert sent.refusals == (*conflicts(OPEN_ONLY), REFUSES_OWN)
    assert [one.kind for one in lost.refusals] == [WORN_OUT]
    assert (opened.events, sent.events) == (("acme.letter.opened",), ())
    assert [STALE in route.errors for route in (opened, sent, lost)] == [True, True, True]


def test_a_body_has_the_fields_of_the_action_and_the_version() -> None:
    (route,) = transitions(LETTERS, act("send", body={"reason": text(max_length=20)}))
    assert route.body is not None
    assert route.body.title == "OpenLetterSendBody"
    assert set(route.body.fields or {}) == {"reason", "version"}


def test_a_body_that_is_an_object_already_gets_the_version_too() -> None:
    shape = obj("SendLetterBody", {"reason": text(required=True)}, nullable=False)
    opened, sent = transitions(LETTERS, act("open"), act("send", body=shape))
    assert sent.body is not None
    assert (sent.body.title, set(sent.body.fields or {})) == ("SendLetterBody", {"reason", "version"})
    assert (opened.needs_body, sent.needs_body) == (False, True)


def test_an_action_that_a_field_forbids_declares_its_refusal() -> None:
    opened, sent = transitions(LETTERS, act("open", unless={"sealed": SEALED}), act("send"))
    assert opened.refusals == conflicts(STATES.refusal, SEALED)
    assert (bars_of(opened, LETTERS), bars_of(sent, LETTERS)) == ({"sealed": SEALED}, {})


def test_an_action_that_asks_for_approval_says_so() -> None:
    approval = Approval(submit="open", done="send", refused="lose", withdrawn="lose")
    opened, sent = transitions(LETTERS, act("open"), act("send"), approval=approval)
    assert (opened.events, sent.events) == (("acme.letter.opened", APPROVAL_REQUESTED), ())


@pytest.mark.parametrize(
    ("collection", "actions", "options", "sentence"),
    [
        (LETTERS, [act("burn")], {}, "burn is none of the actions open, send, lose"),
        (LETTERS, [act("burn", does=("open", "shred"))], {}, "shred is none of the actions open, send, lose"),
        (LETTERS, [act("open")], {"approval": Approval(submit="open")}, "approve is none of the actions"),
        (LETTERS, [act("open", before=not_async)], {}, "before of open is no async function"),
        (LETTERS, [act("open", after=not_async)], {}, "after of open is no async function"),
        (LETTERS, [act("open", within=not_async)], {}, "within of open is no async function"),
        (LETTERS, [act("open", before=nothing)], {"after": not_async}, "after of all actions is no async function"),
        (LETTERS, [act("open", does=("open", "send"))], {}, f"POST {AT}/open does open or send, and nothing chooses"),
        (LETTERS, [act("open", unless={"text": SEALED})], {}, "open depends on text, which is no boolean field"),
        (LETTERS, [act("open", unless={"torn": SEALED})], {}, "open depends on torn, which is no boolean field"),
        (replace(LETTERS, states=None), [act("open")], {}, "the collection has no states"),
    ],
)
def test_a_wrong_declaration_is_refused_with_a_sentence(
    collection: Collection, actions: list[Action], options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match="transitions of acme_letters: ") as refusal:
        transitions(collection, *actions, **options)  # type: ignore[arg-type]
    assert sentence in str(refusal.value)


def test_a_machine_knows_where_its_actions_lead() -> None:
    assert STATES.allows("lose") == {"status": {"$in": ["open", "sent"]}}
    assert STATES.allows("open", "lose") == {"status": {"$in": ["draft", "open", "sent"]}}
    assert (STATES.after("send"), STATES.leads_to("sent", "draft"), STATES.leads_to("draft", "sent")) == (
        "sent",
        True,
        False,
    )
    assert STATES.permits({"status": "open"}, "send")
    assert not STATES.permits({"status": "draft"}, "send")
