"""`transitions`: the routes of the actions of a state machine, as plain `Route` values; the sibling of `crud`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from inspect import iscoroutinefunction, unwrap
from typing import TypeVar

from handlers.access.requests import REFUSES_OWN
from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection
from handlers.request import Request
from handlers.route import Refusal, Route, RouteOptions, conflicts, route
from handlers.schema.errors import STALE, ErrorKind
from handlers.schema.fields import Field, obj
from handlers.schema.messages import Message
from handlers.schema.values import Record, RecordId
from handlers.service import Service
from plugins.records.approvals import APPROVAL_ID, Approval
from plugins.records.lifecycles import VERSION, VERSION_BODY, Action, ActionHandler, Find, Lifecycle
from plugins.records.shared_events import APPROVAL_FINISHED, APPROVAL_REQUESTED
from plugins.records.steps import ON_HOLD, Hook, Step
from plugins.records.wording import noun_of, with_article

Value = TypeVar("Value")


async def find_visible(req: Request, collection: Collection, id: RecordId) -> Record:
    """Return a record that the caller may see."""
    return await req.store(collection).get(id)


def transitions(
    collection: Collection,
    *actions: Action,
    find: Find = find_visible,
    after: Hook | None = None,
    approval: Approval | None = None,
    errors: tuple[ErrorKind, ...] = (),
    refusals: tuple[Refusal, ...] = (),
) -> tuple[Route, ...]:
    """Return the routes of these actions on the records of `collection`, which has `states`.

    `find` gets the record that a request acts on: by default any in the data scope. `after` runs after every action,
    behind the action's own hook. With `approval`, records are approved by flows. `errors` and `refusals` belong to
    every route. Raises ValueError for actions that the state machine does not have, and for hooks that are not
    asynchronous.
    """
    life = Lifecycle(collection, actions, find, after, approval)
    faults = list(_faults(life))
    if faults:
        raise ValueError(f"transitions of {collection.name}: {'; '.join(faults)}")
    return tuple(_declare(life, action, errors, refusals) for action in actions)


def _faults(life: Lifecycle) -> Iterator[str]:
    """Yield a sentence for each fault of the declaration."""
    machine, approval = life.collection.states, life.approval
    if machine is None:
        yield "the collection has no states"
        return
    named = [name for action in life.actions for name in action.names]
    for name in dict.fromkeys((*named, *(approval.actions if approval else ()))):
        if name not in machine.transitions:
            yield f"{name} is none of the actions {', '.join(machine.transitions)}"
    describing, done = (approval.record, approval.done) if approval is not None else (None, None)
    yield from _not_async("all actions", find=life.find, after=life.after, record=describing)
    for action in life.actions:
        hooks = {"before": action.before, "after": action.after, "within": action.within}
        yield from _not_async(action.names[0], **hooks)
        if len(action.names) > 1 and action.choose is None:
            yield f"{action.endpoint} does {' or '.join(action.names)}, and nothing chooses"
        if action.waits and "on_hold" not in life.collection.fields:
            yield f"{action.names[0]} waits, but no record is ever on hold: the collection has no hold_fields"
        for flag in action.unless:
            if flag not in life.collection.fields or life.collection.fields[flag].kind != "boolean":
                yield f"{action.names[0]} depends on {flag}, which is no boolean field"
        if done in action.names and not action.waits and "on_hold" in life.collection.fields:
            yield f"{done} approves records that may be on hold, so it needs waits=True"


def _not_async(name: str, **hooks: Callable[..., object] | None) -> Iterator[str]:
    for hook, function in hooks.items():
        called = function.func if isinstance(function, partial) else function
        if called is not None and not iscoroutinefunction(unwrap(called)):
            yield f"{hook} of {name} is no async function"


def _declare(life: Lifecycle, action: Action, errors: tuple[ErrorKind, ...], refusals: tuple[Refusal, ...]) -> Route:
    machine = life.collection.machine
    moves = [machine.transitions[name] for name in action.names]
    refused = [machine.refuse(name) for name in action.names]
    decides = (REFUSES_OWN,) if any(move.decides for move in moves) else ()
    asks = (APPROVAL_REQUESTED,) if life.approval is not None and life.approval.submit in action.names else ()
    barred = (*conflicts(*action.unless.values()), *(conflicts(ON_HOLD) if action.waits else ()))
    in_other_states = [Refusal(error.kind, error.reason) for error in refused]
    options: RouteOptions = {
        "record": life.collection,
        "body": _body(life.collection, action),
        "errors": _once((*errors, *action.errors, STALE)),
        "refusals": _once((*refusals, *in_other_states, *action.refusals, *barred, *decides)),
        "fits": action.fits,
        "events": _once((*action.events, *filter(None, (move.event for move in moves)), *asks)),
    }
    if action.title is not None:
        options["title"] = action.title
    if action.returns is not None:
        options["returns"] = action.returns
    elif asks:
        options["returns"] = _submitted(life.collection)
    summary = action.summary or _summary(life.collection, action)
    return route(action.endpoint, ActionHandler(life, action), summary=summary, access=action.access, **options)


def _submitted(collection: Collection) -> Field:
    """Return the shape of a record that was submitted, with the id of its approval."""
    return collection.read.but(
        title=f"{collection.title}Submitted", fields={**(collection.read.fields or {}), "approval": APPROVAL_ID}
    )


def _once(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(values))


def _body(collection: Collection, action: Action) -> Field:
    """Return the body of the action, which also takes the `version` that the client has seen."""
    if action.body is None:
        return VERSION_BODY
    if isinstance(action.body, Field):
        return action.body.but(fields={"version": VERSION, **(action.body.fields or {})})
    name = "".join(part.capitalize() for part in action.names[0].split("-"))
    return obj(f"{collection.title}{name}Body", {"version": VERSION, **action.body}, nullable=False)


def _summary(collection: Collection, action: Action) -> str:
    """Return the label of the transition with the noun of the collection: `Sign an agreement`."""
    name = action.names[0]
    label = collection.machine.transitions[name].label
    return f"{label.en if label else name.capitalize()} {with_article(noun_of(collection))}"


def action_handlers(routes: Iterable[Route]) -> Iterator[tuple[Route, ActionHandler]]:
    """Yield the routes that `transitions` made, with their handlers."""
    for one in routes:
        if isinstance(one.handler, ActionHandler):
            yield one, one.handler


def transitions_of(route: Route, collection: Collection) -> tuple[str, ...]:
    """Return the transitions of a record of `collection` that a route may make.

    There are none if `transitions` did not make the route.
    """
    return route.handler.names_of(collection) if isinstance(route.handler, ActionHandler) else ()


def bars_of(route: Route, collection: Collection) -> Mapping[str, Message]:
    """Return the boolean fields of a record of `collection` that forbid the action of a route, each with the reason."""
    return route.handler.bars_of(collection) if isinstance(route.handler, ActionHandler) else {}


def is_withdrawal(route: Route) -> bool:
    """Return whether a route takes back what was submitted for approval, as the person does who submitted it."""
    if not isinstance(route.handler, ActionHandler) or route.handler.life.approval is None:
        return False
    return route.handler.life.approval.withdrawn in route.handler.action.names


def action_titles(routes: Iterable[Route]) -> dict[str, Message]:
    """Return the titles of the permissions of actions: the labels of their transitions."""
    titles: dict[str, Message] = {}
    for one, handler in action_handlers(routes):
        name = handler.action.names[0]
        label = handler.life.collection.machine.transitions[name].label
        # of the actions that share a permission, the one that it is named after
        if label is not None and (one.access not in titles or one.access.endswith(f":{name}")):
            titles[one.access] = label
    return titles


def transition_labels(routes: Iterable[Route]) -> dict[str, Message]:
    """Return the label of the transition that each route makes, by the name of the route; of several, the first."""
    labels: dict[str, Message] = {}
    for one, handler in action_handlers(routes):
        label = handler.life.collection.machine.transitions[handler.action.names[0]].label
        if label is not None:
            labels[one.name] = label
    return labels


def refusals_of_outcomes(routes: Iterable[Route]) -> Iterator[Refusal]:
    """Yield the refusals of the actions that outcomes of approvals make."""
    for _, handler in action_handlers(routes):
        approval = handler.life.approval
        if approval is not None and set(handler.action.names) & {approval.done, approval.refused, approval.withdrawn}:
            yield from handler.action.refusals
            yield from conflicts(*handler.action.unless.values())
            yield from conflicts(ON_HOLD) if handler.action.waits else ()


def approval_fields(routes: Iterable[Route], collection: Collection) -> Mapping[str, Field] | None:
    """Return the fields of a record of `collection` that its approval shows; None if no route asks for one."""
    asking = [one for one in routes if {APPROVAL_REQUESTED, APPROVAL_REQUESTED.name} & set(one.events)]
    if all(one.collection != collection.name for one in asking):
        return None
    approval = _approval_of(asking, collection)
    return {**(collection.read.fields or {}), **(approval.fields if approval is not None else {})}


async def approval_record(req: Request, collection: Collection, record: Record) -> Record:
    """Return what conditions of flows would see of a record if it were submitted now."""
    approval = _approval_of(req.part(Catalogue).routes, collection) or Approval()
    step = Step(req.service, collection, approval.submit, record, req.now, req.actor.user_id, request=req)
    return await approval.describe(step)


def _approval_of(routes: Iterable[Route], collection: Collection) -> Approval | None:
    lives = (handler.life for _, handler in action_handlers(routes) if handler.life.collection.name == collection.name)
    return next((life.approval for life in lives if life.approval is not None), None)


def approving_route(routes: Iterable[Route], collection: Collection) -> Route | None:
    """Return the route that approves a record of `collection` at the record itself, if there is one."""
    for one, handler in action_handlers(routes):
        approval = handler.life.approval
        if handler.life.collection.name == collection.name and approval and approval.done in handler.action.names:
            return one
    return None


def listen_to_approvals(service: Service, routes: Iterable[Route]) -> None:
    """Apply the outcomes of approvals to the records that they are about, for as long as the service runs."""
    lives = {id(handler.life): handler.life for _, handler in action_handlers(routes)}
    for life in lives.values():
        if life.approval is not None:
            service.events.listen(APPROVAL_FINISHED, partial(life.apply_outcome, service))
