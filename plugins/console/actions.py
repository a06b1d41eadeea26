"""The buttons that change, delete or act on a record."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from plugins.api import Field, Message, Route, StateMachine
from plugins.api.records import ACTION_TITLES, PEOPLE_BEHIND, bars_of, is_withdrawal, transitions_of
from plugins.console.forms import controls
from plugins.console.nodes import VARIABLE, Node, addressed, call, node, opens, quoted, values_of
from plugins.console.shown import details, figures, lines, tables
from plugins.console.site import APPLY, Subject
from plugins.console.viewer import Viewer


@dataclass(frozen=True)
class Offer:
    """A button for one record, in sight while the formula `fits` holds.

    Otherwise it is in a menu with the template of the `reason`; without a reason it is hidden. What is `aside` while
    that formula holds is in the menu although it fits.
    """

    button: Node
    fits: str = "true"
    reason: str = ""
    aside: str = "false"


def acts(viewer: Viewer, offers: Iterable[Offer], most: int = 0) -> Iterator[Node]:
    """Yield the buttons of a record: up to `most` of those that fit, or all of them, and a menu with the rest."""
    shown = [{"button": one.button, "fits": one.fits, "reason": one.reason, "aside": one.aside} for one in offers]
    if shown:
        yield node("acts", label=viewer.word("more"), most=most, offers=shown)


def drawer(
    title: str, api: Node, body: list[Node], knows: Mapping[str, object], heading: str = "", **more: object
) -> Node:
    """Return a button that opens a form, which gets only `knows` and the values that the address of `api` contains."""
    if "initApi" not in more and "$" not in f"{api['url']}{knows}":  # another record's values are no draft of this one
        names = [str(one["name"]) for one in _controls_in(body) if one["type"] not in ("input-password", "hidden")]
        body = [node("draft", path=api["url"], names=names), *body]
    form = node("form", api=api, body=body, mode="horizontal", **more)
    data = {**values_of(dict.fromkeys(VARIABLE.findall(str(api["url"])))), **knows}
    size = "xl" if any(one.get("className") == "lines" for one in _controls_in(body)) else "lg"
    return node("button", label=title, **opens("drawer", heading or title, form, size=size, data=data))


def _asking(
    viewer: Viewer,
    subject: Subject,
    title: str,
    api: Node,
    said: str = "",
    asks: Sequence[Node] = (),
    heading: str = "",
    before: Sequence[Node] = (),
    **more: object,
) -> Node:
    """Return a button that asks before it acts: about which record, of what amount, what becomes of it, and `asks`.

    `before` is shown of what was read of the action.
    """
    told, data = _told(viewer, subject, api, said, asks)
    form = node("form", api=api, body=[*told, *before, *asks], **more)
    heading, size = heading or viewer.heading(title, subject.collection), "lg" if before else "md" if asks else "sm"
    level = "danger" if api["method"] == "delete" else "primary"
    return question(viewer, title, form, heading, level, size=size, data=data)


def _told(viewer: Viewer, subject: Subject, api: Node, said: str, asks: Sequence[Node]) -> tuple[list[Node], Node]:
    """Return what a form says of the record before an action, and the values that the form needs for it.

    No field of the form starts with one of these.
    """
    names = {str(one["name"]) for one in _controls_in(asks)}
    facts = [one for one in facts_of(viewer, subject) if one[0] not in names]
    items = [{"label": label, "content": one} for _, label, one in facts]
    known = [one[part] for _, _, one in facts for part in ("name", "by") if part in one]
    data = values_of(dict.fromkeys([*VARIABLE.findall(str(api["url"])), *map(str, known), "version"]))
    told = [node("property", column=1, items=items)] if items else []
    return [*told, *([node("tpl", tpl=said)] if said else [])], data


def question(
    viewer: Viewer,
    title: str,
    form: Node,
    heading: str,
    level: str = "primary",
    size: str = "sm",
    data: Node | None = None,
) -> Node:
    """Return a button that asks before it sends a form; its level is `danger` for what destroys."""
    buttons = [
        node("button", label=viewer.word("cancel"), actionType="cancel"),
        node("button", label=title, actionType="confirm", level=level, primary=True),
    ]
    body = {**form, "wrapWithPanel": False}
    return node("button", label=title, **opens("dialog", heading, body, size=size, data=data or {}, actions=buttons))


def facts_of(viewer: Viewer, subject: Subject) -> Iterator[tuple[str, str, Node]]:
    """Yield the fields that identify a record: its name, or what it refers to, its number, state, and amount."""
    fields = subject.shape or subject.fields
    machine, label = (subject.collection.states, subject.collection.label_field) if subject.collection else (None, "")
    amounts = (name for name in ("total", "amount", *fields) if name in fields and fields[name].kind == "money")
    named = (
        [label]
        if label in fields
        else [name for name, one in fields.items() if one.ref and name not in viewer.site.stamps]
    )
    told = dict.fromkeys((*named[:3], "number", machine.field if machine is not None else "", next(amounts, "")))
    yield from details(viewer, {name: fields[name] for name in told if name in fields})


def _controls_in(body: Iterable[Node]) -> Iterator[Node]:
    """Yield the controls of a form, also those in its fieldsets."""
    for one in body:
        inside = one.get("body")
        if one["type"] == "fieldset" and isinstance(inside, list):
            yield from _controls_in(inside)
        elif "name" in one:
            yield one


def form_of(viewer: Viewer, subject: Subject, route: Route) -> list[Node]:
    """Return the controls for the body of a route, labelled by the fields of the records."""
    view = viewer.site.view_of(subject.collection)
    return [] if route.body is None else controls(viewer, route.body, subject.fields, view)


def edit_offer(viewer: Viewer, subject: Subject, id: str = "id") -> Iterator[Offer]:
    """Yield the button that changes a record, if the viewer may; its form reads the record again."""
    update, read = subject.route("PATCH", "/{id}"), subject.read
    if update is None or not viewer.may(update) or not viewer.may(read):
        return
    path, title = addressed(update.path, id), viewer.say(ACTION_TITLES["update"])
    of_change = (one for one in subject.actions if one.body is update.body)
    of_values = (one for one in subject.tries if one.bare)
    tries = [_try(viewer, subject, one, id) for one in (*of_change, *of_values) if viewer.may(one)]
    body = [*form_of(viewer, subject, update), *tries]
    heading = viewer.heading(title, subject.collection)
    yield Offer(drawer(title, call(update.method, path), body, {}, heading, initApi=call("GET", path)))


def _try(viewer: Viewer, subject: Subject, route: Route, id: str) -> Node:
    """Return the button, in a form, that shows what sending it would do: a rehearsal, or a file."""
    title, fields = viewer.say(viewer.site.action_title(route)), (route.body.fields if route.body is not None else None)
    api = call(route.method, addressed(route.path, id), values_of(fields or {}))
    if route.bare:
        return {**download(title, api), "className": "try"}
    return _trial(viewer, subject, route, title, api)


def _trial(viewer: Viewer, subject: Subject, route: Route, title: str, api: Node) -> Node:
    feedback = _feedback(viewer, subject, route, title)
    done = {"success": viewer.word("tried", action=title)}
    return node("button", label=title, actionType="ajax", api=api, className="try", messages=done, **feedback)


def download(title: str, api: Node) -> Node:
    """Return a button that saves the file which a request returns."""
    return node("button", label=title, actionType="download", api={**api, "responseType": "blob"})


def print_button(viewer: Viewer, route: Route | None, values: Node | None = None) -> Iterator[Node]:
    """Yield the button that saves a paper, if there is one and the viewer may."""
    if route is not None and viewer.may(route):
        yield download(viewer.word("print"), call("GET", addressed(route.path), values))


def export_button(viewer: Viewer, route: Route | None, values: Node) -> Iterator[Node]:
    """Yield the button that saves a table of what these values select, if there is one and the viewer may."""
    if route is not None and viewer.may(route):
        sent = {name: value for name, value in values.items() if name in route.query}
        made = {**sent, "format": "xlsx", "headers": "labels"}
        yield download(viewer.say(ACTION_TITLES["export"]), call("GET", route.path, made))


def delete_offer(viewer: Viewer, subject: Subject, id: str = "id", **more: object) -> Iterator[Offer]:
    """Yield the button that deletes a record at the version that is shown, if the viewer may."""
    delete = subject.route("DELETE", "/{id}")
    if delete is None or not viewer.may(delete):
        return
    path = addressed(delete.path, id)
    request = call("DELETE", f"{path}?version=${{version}}" if "version" in delete.query else path)
    final = viewer.word("restorable" if subject.route("POST", "/{id}/restore") is not None else "final")
    yield Offer(
        _asking(viewer, subject, viewer.say(ACTION_TITLES["delete"]), request, final, (), "", (), **more), aside="true"
    )


def action_offers(viewer: Viewer, subject: Subject, id: str = "id") -> Iterator[Offer]:
    """Yield the buttons of the actions that the viewer may take, with the states and fields that allow them."""
    update = subject.route("PATCH", "/{id}")
    for route in subject.actions:
        if viewer.may(route) and (update is None or route.body is None or route.body is not update.body):
            fits, reason = _where(viewer, subject, route)
            yield Offer(_action(viewer, subject, route, id), fits or "true", reason, _where_aside(subject, route))


def _where_aside(subject: Subject, route: Route) -> str:
    """Return a formula: a withdrawal of what others submitted, and a decision on what the viewer has asked for."""
    if is_withdrawal(route):
        return "submitted_by != me" if "submitted_by" in subject.shape else "false"
    machine, names = _moves(subject, route)
    decides = machine is not None and any(machine.transitions[name].decides for name in names)
    behind = [f"{name} == me" for name in PEOPLE_BEHIND if name in subject.shape] if decides else []
    return " || ".join(behind) or "false"


def decisions(viewer: Viewer, subject: Subject) -> Iterator[Offer]:
    """Yield the buttons by which somebody decides who is asked, for rows that all wait for the viewer."""
    for route in subject.actions:
        if viewer.may(route) and _asked(viewer, subject, route):
            yield Offer(_action(viewer, subject, route, "id"))


def create_button(viewer: Viewer, subject: Subject, fixed: Mapping[str, str]) -> Iterator[Node]:
    """Yield the button that makes a record, if the viewer may; `fixed` are values that its form always sends."""
    create = subject.route("POST")
    if create is not None and viewer.may(create) and create.body is not None:
        declared = viewer.site.catalogue.permission_titles.get(create.access)
        title = viewer.say(declared or ACTION_TITLES["create"])
        api, plain = call("POST", addressed(create.path)), title == viewer.say(ACTION_TITLES["create"])
        heading = viewer.heading(title, subject.collection) if plain else title  # such as "Send announcements"
        tries = [_try(viewer, subject, one, "id") for one in subject.tries if viewer.may(one)]
        yield {**drawer(title, api, [*form_of(viewer, subject, create), *tries], fixed, heading), "level": "primary"}


def entry_buttons(viewer: Viewer, subject: Subject) -> Iterator[Node]:
    """Yield the buttons that make records in another way, such as an entry for somebody else, if the viewer may."""
    for route in subject.entries:
        if viewer.may(route):
            title = viewer.say(viewer.site.action_title(route))
            api, shown = call("POST", addressed(route.path)), _feedback(viewer, subject, route, title)
            heading = title if shown else viewer.heading(title, subject.collection)
            yield drawer(title, api, form_of(viewer, subject, route), {}, heading, **shown)


def rehearsed_buttons(viewer: Viewer, subject: Subject) -> Iterator[Node]:
    """Yield the buttons of what changes many records at once: their forms show what it would do before it is done."""
    for route in viewer.site.rehearsed(subject):
        if viewer.may(route) and route.body is not None:
            title, fields = viewer.say(viewer.site.action_title(route)), values_of(route.body.fields or {})
            tried, api = (call(route.method, route.path, {**fields, APPLY: applied}) for applied in (False, True))
            body = [one for one in form_of(viewer, subject, route) if one["name"] != APPLY]
            body.append(_trial(viewer, subject, route, viewer.word("rehearse"), tried))
            yield drawer(title, api, body, {}, "", **_feedback(viewer, subject, route, title))


def making_offers(viewer: Viewer, subject: Subject) -> Iterator[Offer]:
    """Yield the buttons that make other records from one, as its view declares, if the viewer may make them."""
    view = viewer.site.view_of(subject.collection)
    for makes in view.makes if view is not None else ():
        create = next(one for one in viewer.site.catalogue.routes if one.name == makes.route)
        made = (one for one in viewer.site.subjects.values() if one.read and one.read.returns is create.returns)
        target = next(made, None)
        if target is not None and target.collection is not None and viewer.may(create):
            title = viewer.word("new", noun=viewer.say(Message(*target.collection.noun)))
            api, body = call("POST", addressed(create.path, "id")), form_of(viewer, target, create)
            known = details(viewer, {name: subject.fields[name] for name in makes.shows})
            told = [
                node("property", column=1, items=[{"label": label, "content": one}], visibleOn=f"${{{name}}}")
                for name, label, one in known
            ]
            knows = {**{name: f"${{{name}}}" for name in makes.shows}, **makes.values}
            yield Offer(drawer(title, api, [*told, *body], knows, title.rstrip("…")), makes.fits)


def plain_requests(buttons: Iterable[Node]) -> Iterator[tuple[str, Node]]:
    """Yield the titles and the requests of the buttons whose forms ask for nothing that must be given."""
    for one in buttons:
        opened = one.get("dialog") or one.get("drawer")
        form = opened["body"] if isinstance(opened, dict) else {}
        if form and not any(part.get("required") for part in form["body"]):
            yield str(one["label"]), form["api"]


def verb_of(route: Route) -> str:
    """Return the name that a history gives an action."""
    return route.action or route.path.rpartition("/")[2]


def _action(viewer: Viewer, subject: Subject, route: Route, id: str) -> Node:
    title = viewer.say(viewer.site.action_title(route))
    path = addressed(route.path if subject.nested else route.path.replace(f"{{{subject.key}}}", "{id}"), id)
    fields = (route.body.fields or {}) if route.body is not None else {}
    api, feedback = call(route.method, path, values_of(fields)), _feedback(viewer, subject, route, title)
    asked, read = form_of(viewer, subject, route), subject.routes.get(f"GET {route.path}")
    begun: Node = {"initApi": call("GET", path)} if read is not None and viewer.may(read) else {}
    if any(one["type"] not in ("hidden", "input-text", "textarea") for one in asked):
        view, verb = viewer.site.view_of(subject.collection), route.path.rpartition("/")[2]
        told, data = _told(viewer, subject, api, _becomes(viewer, subject, route), asked)
        sent = (names for one in asked if isinstance(names := one.get("sent"), list))
        counted = dict.fromkeys(name for names in sent for name in names if name in subject.shape)  # amounts need these
        lists = values_of({one.key_of: one for one in fields.values() if one.key_of})
        knows = {
            **values_of(counted),
            **data,
            **lists,
            **(view.proposals.get(verb, {}) if view is not None else {}),
        }
        heading = viewer.heading(title, subject.collection)
        return drawer(title, api, [*told, *asked], knows, heading, **begun, **feedback)
    texts = [one for one in asked if one["type"] != "hidden"]
    heading = title if _asked(viewer, subject, route) else ""  # one agrees, and not a record
    known = (read.returns.fields or {}) if read is not None and begun else {}
    before = [*figures(viewer, known), *tables(viewer, known)]
    becomes = _becomes(viewer, subject, route)
    more = {**begun, **feedback}
    return _asking(viewer, subject, title, api, becomes, texts, heading, before, **more)


def _becomes(viewer: Viewer, subject: Subject, route: Route) -> str:
    """Return what an action does: its effect, or the state to which it leads; empty if it depends, or stays the same."""
    if route.effect is not None:
        return viewer.say(Message(*route.effect))
    machine, names = _moves(subject, route)
    moves = [machine.transitions[name] for name in names] if machine is not None else []
    states = {one.target for one in moves}
    if machine is None or len(states) != 1 or all(states == set(one.sources) for one in moves):
        return ""
    return viewer.word("becomes", state=viewer.say(machine.states[states.pop()]))


def _moves(subject: Subject, route: Route) -> tuple[StateMachine | None, tuple[str, ...]]:
    """Return the states of the records, and the transitions that an action may make."""
    machine = subject.collection.states if subject.collection is not None else None
    if machine is None or subject.collection is None:
        return None, ()
    return machine, transitions_of(route, subject.collection) or tuple({verb_of(route)} & machine.transitions.keys())


def _feedback(viewer: Viewer, subject: Subject, route: Route, title: str) -> Node:
    """Return what is shown of a response that is not a record, such as a rehearsal or a new password."""
    fields = route.returns.fields or {}
    known = subject.read is not None and route.returns is subject.read.returns
    shown = [] if known or "version" in fields else [*figures(viewer, fields), *tables(viewer, fields)]
    dialog = {"title": title, "size": "lg", "closeOnEsc": True, "actions": [], "body": shown}
    return {"feedback": dialog} if shown else {}


def _where(viewer: Viewer, subject: Subject, route: Route) -> tuple[str, str]:
    """Return a formula that holds while an action fits the record, and the template of the reason why it does not."""
    if asked := _asked(viewer, subject, route):
        return asked, viewer.word("not_asked")
    fits = [_holds_what(name, wanted) for name, wanted in route.fits.items()]
    machine, names = _moves(subject, route)
    allowed = {state for name in names for state in machine.transitions[name].sources} if machine is not None else set()
    if machine is None or not allowed:
        return " && ".join(fits), ""
    sources = [state for state in machine.states if state in allowed]
    states = "、" if viewer.language == "zh" else ", "
    said = viewer.word("only_in", states=states.join(viewer.say(machine.states[state]) for state in sources))
    bars = bars_of(route, subject.collection) if subject.collection is not None else {}
    reasons = "".join(f"{flag} ? {quoted(viewer.say(reason))} : " for flag, reason in bars.items())
    tip = f"${{{reasons}{quoted(said)}}}" if bars else said
    holds = (*fits, _holds_what(machine.field, tuple(sources)), *(f"!{flag}" for flag in bars))
    return " && ".join(holds), "" if fits else tip


def _holds_what(name: str, wanted: bool | tuple[str, ...] | Literal["caller", "others"]) -> str:
    if wanted in ("caller", "others"):
        return f"{name} {'==' if wanted == 'caller' else '!='} me"
    if isinstance(wanted, bool):
        return name if wanted else f"!{name}"
    values = " || ".join(f"{name} == '{value}'" for value in wanted)
    return f"({values})"


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
