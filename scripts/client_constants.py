"""Writes the constants of the TypeScript client: errors, dictionaries, state machines, permissions, in both languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handlers.catalogue.declarations import Catalogue
from handlers.data.states import StateMachine
from handlers.schema.messages import Message
from plugins.boot.registry import freeze
from plugins.commands.export_openapi import indented
from plugins.plugin import Plugin

FILE = Path(__file__).resolve().parent.parent / "clients" / "typescript" / "src" / "constants.ts"
_HEAD = "// Generated from the declarations of the plugins by `{command}`: do not edit.\n"


def typed_constants(plugins: Sequence[Plugin], command: str) -> dict[Path, str]:
    """Return the text of the module by its path. `command` renews it, as its first line says."""
    catalogue = freeze(plugins)
    dictionaries = {
        one.type: {
            "title": _text(one.title),
            "items": {item.value: {**_text(item.label), "color": item.color} for item in one.items},
        }
        for one in catalogue.dictionaries
    }
    machines = {machine.name: _machine(machine) for machine in catalogue.state_machines}
    permissions = {code: _text(operation) for code, operation in catalogue.operations.items()}
    declared = (
        _declare("ERRORS", "The errors by the names that `/meta/constants` has", _errors(catalogue)),
        _declare(
            "DICTIONARIES", "Those that plugins declare; `/meta/constants` has what was added since", dictionaries
        ),
        _declare("STATE_MACHINES", "The states of records, and the actions that lead from some to another", machines),
        _declare("PERMISSIONS", "What each permission code permits", permissions),
    )
    return {FILE: _HEAD.format(command=command) + "".join(declared)}


def _declare(name: str, comment: str, value: dict[str, Any]) -> str:
    return f"\n/** {comment}. */\nexport const {name} = {indented(dict(sorted(value.items())))} as const;\n"


def _errors(catalogue: Catalogue) -> dict[str, Any]:
    return {kind.name: {"code": kind.code, "status": kind.status, **_text(kind.message)} for kind in catalogue.errors}


def _machine(machine: StateMachine) -> dict[str, Any]:
    return {
        "initial": machine.initial,
        "states": {state: _text(label) for state, label in machine.states.items()},
        "actions": {
            action: {"from": list(one.sources), "to": one.target, **_text(machine.label_of(action))}
            for action, one in machine.transitions.items()
        },
    }


def _text(message: Message) -> dict[str, str]:
    return {"zh": message.zh, "en": message.en}
