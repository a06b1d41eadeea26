"""The buttons that change, delete or act on a record."""

import json
from collections.abc import Iterator, Mapping
from functools import partial

from plugins.api import Field, Route, StateMachine
from plugins.api.records import ACTION_TITLES, bars_of, transitions_of
from plugins.console.forms import controls
from plugins.console.nodes import VARIABLE, Node, addressed, call, node, values_of
from plugins.console.shown import figures, lines, tables
from plugins.console.site import Subject
from plugins.console.viewer import Viewer

_quoted = partial(json.dumps, ensure_ascii=False)  # as texts in formulas of the renderer


def drawer(title: str, api: Node, body: list[Node], knows: Mapping[str, object], **more: object) -> Node:
    """Return a button that opens a form, which gets only `knows` and the values that the address of `api` contains."""
    form = node("form", api=api, body=body, mode="horizontal", **more)
    data = {**values_of(dict.fromkeys(VARIABLE.findall(str(api["url"])))), **knows}
    opened = {"title": title, "size": "lg", "closeOnEsc": True, "data": data, "body": form}
    return node("button", label=title, actionType="drawer", drawer=opened)


def form_of(viewer: Viewer, subject: Subject, route: Route) -> list[Node]:
    """Return the controls for the body of a route, labelled by the fields of the records."""
    view = viewer.site.view_of(subject.collection)
    return [] if route.body is None else controls(viewer, route.body, subject.fields, view)


def edit_button(viewer: Viewer, subject: Subject, id: str = "id") -> Iterator[Node]:
    """Yield the button that changes a record, if the viewer may; its form reads the record again."""
    update, read = subject.route("PATCH", "/{id}"), subject.read
    if update is None or not viewer.may(update) or not viewer.may(read):
        return
    path, title = addressed(update.path, id), viewer.say(ACTION_TITLES["update"])
    tries = [_try(viewer, subject, one, id) for one in subject.actions if one.body is update.body and viewer.may(one)]
    body = [*form_of(viewer, subject, update), *tries]
    yield drawer(title, call(update.method, path), body, {}, initApi=call("GET", path))


def _try(viewer: Viewer, subject: Subject, route: Route, id: str) -> Node:
    """Return the button, in the form of a change, that shows what the change would do: a rehearsal."""
    title, fields = viewer.say(viewer.site.action_title(route)), (route.body.fields if route.body is not None else None)
    api = call(route.method, addressed(route.path, id), values_of(fields or {}))
    feedback = _feedback(viewer, subject, route, title)
    return node("button", label=title, actionType="ajax", api=api, className="try", **feedback)


def delete_button(viewer: Viewer, subject: Subject, id: str = "id") -> Iterator[Node]:
    """Yield the button that deletes a record at the version that is shown, if the viewer may."""
    delete = subject.route("DELETE", "/{id}")
    if delete is None or not viewer.may(delete):
        return
    path = addressed(delete.path, id)
    request = call("DELETE", f"{path}?version=${{version}}" if "version" in delete.query else path)
    title, sure = viewer.say(ACTION_TITLES["delete"]), viewer.word("delete?")
    yield node("button", label=title, actionType="ajax", api=request, confirmText=sure, level="danger")


def action_buttons(viewer: Viewer, subject: Subject, id: str = "id") -> Iterator[Node]:
    """Yield the buttons of the actions that the viewer may take; a disabled one names the states that allow it."""
    update = subject.route("PATCH", "/{id}")
    for route in subject.actions:
        if viewer.may(route) and (update is None or route.body is None or route.body is not update.body):
            yield {**_action(viewer, subject, route, id), **_where(viewer, subject, route)}


def verb_of(route: Route) -> str:
    """Return the name that a history gives an action."""
    return route.action or route.path.rpartition("/")[2]


def _action(viewer: Viewer, subject: Subject, route: Route, id: str) -> Node:
    title = viewer.say(viewer.site.action_title(route))
    path = addressed(route.path if subject.nested else route.path.replace(f"{{{subject.key}}}", "{id}"), id)
    fields = (route.body.fields or {}) if route.body is not None else {}
    feedback = _feedback(viewer, subject, route, title)
    if set(fields) - {"version"}:
        knows = {"version": "${version}"}
        return drawer(title, call(route.method, path), form_of(viewer, subject, route), knows, **feedback)
    api = call(route.method, path, {"version": "${version}"} if "version" in fields else {})
    sure = viewer.word("sure", action=title)
    return node("button", label=title, actionType="ajax", api=api, confirmText=sure, **feedback)


def _feedback(viewer: Viewer, subject: Subject, route: Route, title: str) -> Node:
    """Return what is shown of a response that is not a record, such as a rehearsal or a new password."""
    fields = route.returns.fields or {}
    known = subject.read is not None and route.returns is subject.read.returns
    shown = [] if known or "version" in fields else [*figures(viewer, fields), *tables(viewer, fields)]
    return {"feedback": {"title": title, "size": "lg", "actions": [], "body": shown}} if shown else {}


def _where(viewer: Viewer, subject: Subject, route: Route) -> Node:
    if asked := _asked(viewer, subject, route):
        return {"disabledOn": f"${{!{asked}}}", "disabledTip": viewer.word("not_asked")}
    machine = subject.collection.states if subject.collection is not None else None
    if machine is None or subject.collection is None:
        return {}
    names = transitions_of(route, subject.collection) or tuple({verb_of(route)} & machine.transitions.keys())
    sources = [state for state in machine.states if any(state in machine.transitions[name].sources for name in names)]
    if not sources:
        return {}
    allowed = " || ".join(f"{machine.field} == '{state}'" for state in sources)
    states = "、" if viewer.language == "zh" else ", "
    said = viewer.word("only_in", states=states.join(viewer.say(machine.states[state]) for state in sources))
    bars = bars_of(route, subject.collection)
    reasons = "".join(f"{flag} ? {_quoted(viewer.say(reason))} : " for flag, reason in bars.items())
    tip = f"${{{reasons}{_quoted(said)}}}" if bars else said
    return {"disabledOn": f"${{{' || '.join((f'!({allowed})', *bars))}}}", "disabledTip": tip}


def _asked(viewer: Viewer, subject: Subject, route: Route) -> str:
    """Return a condition: a task of the record waits for the viewer's decision. Empty if the action is no decision."""
    for name, _, inside in lines(subject.shape):
        for machine in viewer.site.catalogue.state_machines:
            decision = machine.transitions.get(verb_of(route))
            if decision is not None and decision.decides and _holds(inside, machine):
                waits = " || ".join(f"one.{machine.field} == '{state}'" for state in decision.sources)
                return f"ARRAYSOME({name}, one => ({waits}) && one.user_id == me)"
    return ""


def _holds(fields: Mapping[str, Field], machine: StateMachine) -> bool:
    states = fields[machine.field].rules.get("enum") if machine.field in fields else None
    return "user_id" in fields and set(states or ()) == set(machine.states)
