"""Everything that readers rely on is said: settings, errors, routes, parameters."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from config.settings import EnvironmentSettings, Settings
from handlers.schema.envelope import to_json
from handlers.schema.errors import ApiError
from handlers.schema.messages import Message
from handlers.schema.validation import Checker
from plugins.boot.registry import load_plugins
from tests.support.catalogue import CATALOGUE
from tests.support.document import DOCUMENT
from tests.support.openapi_checks import Described, escaped

PLUGINS = load_plugins(())
SETTINGS: list[type[EnvironmentSettings]] = [Settings, *(plugin.settings for plugin in PLUGINS if plugin.settings)]


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def parameters() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, operation in operations():
        for parameter in operation["parameters"]:
            yield f"{name} {parameter['in']} {parameter['name']}", parameter


def test_every_setting_says_what_it_is_for_in_a_sentence() -> None:
    described = {name: field.description or "" for kind in SETTINGS for name, field in kind.model_fields.items()}
    assert [name for name, sentence in described.items() if not sentence.endswith(".")] == []


def test_no_two_settings_have_one_name() -> None:
    names = [name for kind in SETTINGS for name in kind.model_fields]
    assert sorted(names) == sorted(set(names))


def test_every_error_has_its_sentences_and_says_when() -> None:
    said = {kind.name: (kind.message.zh, kind.message.en, kind.when) for kind in CATALOGUE.errors}
    assert [name for name, sentences in said.items() if not all(sentences)] == []


def test_every_title_is_in_both_languages() -> None:
    titles: dict[str, Message] = {plugin.name: plugin.title for plugin in PLUGINS}
    titles |= {menu.code: menu.title for menu in CATALOGUE.menus} | dict(CATALOGUE.permission_titles)
    for dictionary in CATALOGUE.dictionaries:
        titles[dictionary.type] = dictionary.title
        titles |= {f"{dictionary.type}.{item.value}": item.label for item in dictionary.items}
    for machine in CATALOGUE.state_machines:
        titles |= {f"{machine.name}.{state}": label for state, label in machine.states.items()}
    assert [name for name, title in titles.items() if not (title.zh and title.en)] == []


def test_every_operation_is_summed_up_and_tagged() -> None:
    assert [name for name, one in operations() if not (one["summary"] and one["tags"][0])] == []


def test_every_parameter_has_an_example() -> None:
    assert [name for name, parameter in parameters() if parameter.get("example") is None] == []


def schemas(part: Any = DOCUMENT, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object in the document that has examples or properties, with the pointer to it."""
    if isinstance(part, dict):
        if "examples" in part or isinstance(part.get("properties"), dict):
            yield pointer, part
        for name, child in part.items():
            yield from schemas(child, f"{pointer}/{escaped(name)}")
    if isinstance(part, list):
        for number, child in enumerate(part):
            yield from schemas(child, f"{pointer}/{number}")


def test_every_example_fits_its_schema() -> None:
    described = Described(json.loads(to_json(DOCUMENT)))
    wrong = []
    for pointer, schema in schemas():
        for example in schema.get("examples", ()) if isinstance(schema.get("examples"), list) else ():
            wrong += [f"{pointer}: {fault}" for fault in described.faults(pointer, example)]
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            for number, parameter in enumerate(operation["parameters"]):
                pointer = f"/paths/{escaped(path)}/{method}/parameters/{number}/schema"
                wrong += [f"{pointer}: {fault}" for fault in described.faults(pointer, parameter["example"])]
    assert wrong == []


def test_no_two_properties_of_a_shape_have_one_name_in_generated_types() -> None:
    twice = set()
    for _, schema in schemas():
        spelled: dict[str, set[str]] = {}
        for name in schema.get("properties", ()):
            spelled.setdefault(re.sub("[^a-z0-9]", "", name.lower()), set()).add(name)
        twice |= {tuple(sorted(names)) for names in spelled.values() if len(names) > 1}
    # `LoginLogUserName`, the name beside `user_id`, and `LoginLogUsername`, with which the person logged in; both names
    # of the refresh token, which clients of the first release know
    assert twice == {("user_name", "username"), ("refreshToken", "refresh_token")}


def test_no_two_components_or_operations_have_one_name_in_generated_types() -> None:
    names = Counter(re.sub("[^a-z0-9]", "", name.lower()) for name in DOCUMENT["components"]["schemas"])
    names += Counter(re.sub("[^a-z0-9]", "", operation["operationId"]) for _, operation in operations())
    assert [name for name, count in names.items() if count > 1] == []


def test_a_version_is_one_or_more() -> None:
    versions = [schema["properties"]["version"] for _, schema in schemas() if "version" in schema.get("properties", ())]
    assert len(versions) > 100
    assert [one for one in versions if one["type"] != "string" and one["minimum"] != 1] == []


def test_the_example_of_every_body_field_is_accepted() -> None:
    refused = []
    for route in CATALOGUE.routes:
        for name, field in ((route.body and route.body.fields) or {}).items():
            if field.example is not None:
                try:
                    Checker(field)(field.example)
                except ApiError as error:
                    refused.append(f"{route.name} {name}: {error.data}")
    assert refused == []
