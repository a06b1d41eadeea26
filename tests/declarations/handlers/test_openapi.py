"""The OpenAPI document: what the front ends generate their types from."""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handlers.catalogue.pickers import Pickers
from handlers.docs.components import NameTaken
from handlers.docs.openapi import check_names, describe
from handlers.request import Request
from handlers.route import PUBLIC, Route, route
from handlers.schema.envelope import to_json
from handlers.schema.errors import ApiError
from handlers.schema.fields import Field, choice, integer, number, obj, text
from plugins.boot.registry import RegistryError, freeze, load_plugins
from plugins.commands.export_openapi import main
from tests.support.catalogue import CATALOGUE
from tests.support.document import DOCUMENT

ROOT = Path(__file__).resolve().parents[3]
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]


def operation(endpoint: str) -> dict[str, Any]:
    """What the document says of `GET /path`."""
    method, _, path = endpoint.partition(" ")
    described: dict[str, Any] = DOCUMENT["paths"][path][method.lower()]
    return described


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """The component that `part` refers to, or `part` itself."""
    found: Any = DOCUMENT
    if "$ref" not in part:
        return part
    for name in part["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return dict(found)


def codes(endpoint: str) -> dict[str, set[int]]:
    """Status → error codes that the document announces for an endpoint."""
    failures = {
        status: resolved(response) for status, response in operation(endpoint)["responses"].items() if status > "399"
    }
    schemas = {status: response["content"]["application/json"]["schema"] for status, response in failures.items()}
    return {
        status: {resolved(choice)["properties"]["code"]["const"] for choice in schema.get("oneOf", [schema])}
        for status, schema in schemas.items()
    }


def data_of(described: dict[str, Any]) -> dict[str, Any]:
    """The schema of `data` in the envelope of a success."""
    schema: dict[str, Any] = described["responses"]["200"]["content"]["application/json"]["schema"]
    return dict(schema["properties"]["data"])


def endpoint_of(route: Route) -> str:
    return f"{route.method} {route.path}"


def operations() -> Iterator[dict[str, Any]]:
    return (operation for path in DOCUMENT["paths"].values() for operation in path.values())


async def handle(req: Request) -> None:
    """A handler that is never called."""


def serving_shape(path: str, shape: Field) -> Route:
    """A route that returns `shape`."""
    return route(f"GET {path}", handle, summary="Shape", access=PUBLIC, returns=shape, tag="test")


# of JSON Schema 2020-12, and our extensions; generators and checkers refuse the keywords of one validator
KEYWORDS = {
    *("type", "format", "enum", "const", "examples", "title", "description", "$ref", "anyOf", "oneOf", "allOf"),
    *("properties", "required", "additionalProperties", "items", "minItems", "maxItems", "uniqueItems"),
    *("minLength", "maxLength", "pattern", "minimum", "maximum", "contentMediaType", "x-dictionary", "x-reference"),
}


def keywords(schema: dict[str, Any]) -> Iterator[str]:
    """The keywords of a schema and of those within it."""
    yield from schema
    within = [schema[name] for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict)]
    within += [one for name in ("anyOf", "oneOf", "allOf") for one in schema.get(name, ())]
    for one in (*schema.get("properties", {}).values(), *within):
        yield from keywords(one)


def test_schemas_have_only_keywords_that_every_tool_knows() -> None:
    unknown = {name: {*keywords(schema)} - KEYWORDS for name, schema in SCHEMAS.items()}
    assert {name: found for name, found in unknown.items() if found} == {}


def test_the_document_has_every_route_and_no_other() -> None:
    described = {f"{method.upper()} {path}" for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert described == {endpoint_of(route) for route in CATALOGUE.routes}


def test_operations_are_tagged_by_the_resource_that_they_are_about() -> None:
    assert operation("POST /api/v1/crm/customers/{id}/claim")["tags"] == ["crm: customers"]
    assert operation("POST /api/v1/auth/login")["tags"] == ["auth"]
    assert operation("GET /api/v1/notifications")["tags"] == ["notification"]
    used = {tag for one in operations() for tag in one["tags"]}
    assert [tag["name"] for tag in DOCUMENT["tags"]] == sorted(used)
    assert {"name": "crm: customers", "description": "Operations at `/api/v1/crm/customers`."} in DOCUMENT["tags"]


def test_every_operation_has_an_identifier_of_its_own() -> None:
    identifiers = [operation["operationId"] for operation in operations()]
    assert len(set(identifiers)) == len(identifiers)


def test_a_guarded_route_names_its_permission() -> None:
    named = {endpoint_of(route): operation(endpoint_of(route)).get("x-permission") for route in CATALOGUE.routes}
    assert named == {endpoint_of(route): route.access if route.guarded else None for route in CATALOGUE.routes}


def test_every_route_that_is_not_public_asks_for_the_bearer_token() -> None:
    assert DOCUMENT["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    secured = {endpoint_of(route): operation(endpoint_of(route))["security"] for route in CATALOGUE.routes}
    assert secured == {
        endpoint_of(route): [] if route.access == PUBLIC else [{"bearer": []}] for route in CATALOGUE.routes
    }


def takes_its_examples(route: Route) -> bool:
    """Whether the route accepts the examples of all its query parameters at once."""
    described = operation(endpoint_of(route))["parameters"]
    examples = {one["name"]: one["example"] for one in described if one["in"] == "query"}
    as_sent = {name: json.dumps(value).strip('[]"') for name, value in examples.items()}
    try:
        taken = route.check_query({name: [value] for name, value in as_sent.items()})
    except ApiError:
        return False
    return set(examples) == set(taken) == set(route.query)


def test_every_route_accepts_the_examples_of_all_its_query_parameters_at_once() -> None:
    assert [route.name for route in CATALOGUE.routes if not takes_its_examples(route)] == []


def test_every_parameter_in_a_path_or_header_has_an_example() -> None:
    parameters = [parameter for operation in operations() for parameter in operation["parameters"]]
    assert [one for one in parameters if one["in"] != "query" and not one["example"]] == []


def test_every_write_takes_an_idempotency_key_and_says_when_its_response_is_replayed() -> None:
    for declared in CATALOGUE.routes:
        described = operation(declared.name)
        taken = "Idempotency-Key" in [parameter["name"] for parameter in described["parameters"]]
        assert taken == (declared.method != "GET" and declared.access != PUBLIC and declared.bare is None), (
            declared.name
        )
        if taken:
            assert "Idempotency-Replayed" in described["responses"]["200"]["headers"]
            assert 40903 in codes(declared.name)["409"]


def test_two_posts_are_not_given_the_same_example_of_an_idempotency_key() -> None:
    parameters = [parameter for operation in operations() for parameter in operation["parameters"]]
    keys = [one["example"] for one in parameters if one["name"] == "Idempotency-Key"]
    assert len(set(keys)) == len(keys) > 0


def test_an_identifier_in_a_path_has_the_type_that_records_have() -> None:
    def id_type(endpoint: str) -> str:
        return str(operation(endpoint)["parameters"][0]["schema"]["type"])

    assert id_type("POST /api/v1/system/users/{id}/unlock") == "integer"
    assert id_type("POST /api/v1/crm/customers/{id}/claim") == "string"


def test_login_announces_its_own_refusals_and_none_of_a_token() -> None:
    announced = codes("POST /api/v1/auth/login")
    assert announced["400"] == {40000, 40001, 40010}
    assert announced["403"] == {40303}
    assert announced["423"] == {42300}
    assert announced["429"] == {42900}
    assert set(announced) & {"401", "404", "409"} == set()


def test_a_guarded_list_announces_401_and_403_and_nothing_of_a_body_or_record() -> None:
    announced = codes("GET /api/v1/crm/customers")
    assert announced["401"] == {40100, 40101}
    assert announced["403"] == {40300, 40301}
    assert set(announced) & {"404", "409", "413", "415"} == set()


def test_an_update_announces_the_missing_record_the_duplicate_and_the_stale_version() -> None:
    announced = codes("PATCH /api/v1/crm/customers/{id}")
    assert announced["404"] == {40400}
    assert announced["409"] >= {40900, 40902}


def test_a_public_route_announces_no_rate_limit_and_no_refusal() -> None:
    assert set(codes("GET /api/v1/meta/constants")) == {"400", "500", "503"}


def test_a_response_that_asks_to_wait_says_how_long() -> None:
    waiting = [resolved(operation("POST /api/v1/auth/login")["responses"][status]) for status in ("423", "429", "503")]
    assert all("Retry-After" in response["headers"] for response in waiting)


def test_a_validation_error_has_a_list_of_fields_with_rules_and_messages() -> None:
    faults = SCHEMAS["InvalidError"]["properties"]["data"]["properties"]["errors"]
    assert set(resolved(faults["items"])["properties"]) == {"field", "rule", "message"}


def test_no_success_is_vague_about_its_data() -> None:
    enveloped = [route for route in CATALOGUE.routes if not route.bare and not route.socket]
    vague = [
        endpoint_of(route) for route in enveloped if not {"type", "$ref"} & set(data_of(operation(endpoint_of(route))))
    ]
    assert vague == []


def test_a_list_returns_a_named_page_of_named_records() -> None:
    page = data_of(operation("GET /api/v1/crm/customers"))
    assert page == {"$ref": "#/components/schemas/CustomerPage"}
    assert SCHEMAS["CustomerPage"]["properties"]["items"]["items"] == {"$ref": "#/components/schemas/Customer"}


def test_a_web_socket_switches_protocols_and_its_messages_are_described() -> None:
    described = operation("GET /api/v1/notifications/ws")
    assert [status for status in described["responses"] if status < "400"] == ["101"]
    messages = {name: resolved(message) for name, message in described["x-websocket-messages"].items()}
    assert list(messages) == ["ready", "notification", "progress", "unread"]
    assert [message["properties"]["type"]["enum"] for message in messages.values()] == [[name] for name in messages]
    assert messages["notification"]["properties"]["data"] == {"$ref": "#/components/schemas/Notification"}


def test_a_response_without_an_envelope_has_its_media_type() -> None:
    assert list(operation("GET /metrics")["responses"]["200"]["content"]) == ["text/plain"]
    assert list(operation("GET /api/docs")["responses"]["200"]["content"]) == ["text/html"]


def test_an_operation_says_who_may_use_it_and_what_of_its_own_refuses_it() -> None:
    says = operation("POST /api/v1/crm/contracts/{id}/submit")["description"].splitlines()
    assert says[0] == "Needs the permission `crm:contract:submit`."
    assert "- 40901: This record is already waiting for approval" in says
    assert all(one["description"] for one in operations())


def test_a_reference_names_its_collection_the_name_beside_it_and_a_picker_that_exists() -> None:
    read, written = (SCHEMAS[name]["properties"]["owner_id"]["x-reference"] for name in ("Customer", "CustomerCreate"))
    assert read == {"collection": "rbac_users", "label": "owner_name"}
    assert written == {**read, "picker": "/api/v1/meta/options/rbac_users"}
    found = [
        (field["x-reference"], one["properties"])
        for one in SCHEMAS.values()
        for field in one.get("properties", {}).values()
        if "x-reference" in field
    ]
    pickers = Pickers(CATALOGUE).collections
    for reference, properties in found:
        assert reference["collection"] in CATALOGUE.collections
        in_body = "picker" in reference
        assert reference["collection"] in pickers if in_body else reference["label"] in properties


def test_a_tree_refers_to_itself() -> None:
    children = SCHEMAS["DepartmentNode"]["properties"]["children"]
    assert children["items"] == {"$ref": "#/components/schemas/DepartmentNode"}


def test_a_choice_is_an_enumeration_and_what_may_be_null_says_so() -> None:
    assert SCHEMAS["Role"]["properties"]["status"]["enum"] == ["enabled", "disabled"]
    assert SCHEMAS["Role"]["properties"]["remark"]["type"] == ["string", "null"]


def test_what_has_a_default_may_be_left_out_by_generated_types() -> None:
    # openapi-typescript demands every property that has the keyword `default`
    status = SCHEMAS["RoleCreate"]["properties"]["status"]
    assert "default" not in status
    assert "enabled" in status["description"]
    assert "status" not in SCHEMAS["RoleCreate"]["required"]


def test_a_shape_that_is_read_as_it_is_written_has_one_name() -> None:
    assert "Position" in SCHEMAS
    assert "PositionInput" not in SCHEMAS


def test_a_shape_that_is_written_otherwise_than_read_has_two_names() -> None:
    shape = obj("Widget", {"id": integer(read_only=True), "name": text()}, nullable=False)
    described = describe([replace(serving_shape("/api/widget", shape), method="POST", body=shape)], "1")
    assert set(described["components"]["schemas"]["WidgetInput"]["properties"]) == {"name"}
    assert set(described["components"]["schemas"]["Widget"]["properties"]) == {"id", "name"}


def test_two_shapes_of_one_name_are_refused() -> None:
    shapes = [obj("Widget", {"name": text()}, nullable=False), obj("Widget", {"kind": choice("a")}, nullable=False)]
    with pytest.raises(NameTaken, match="Widget"):
        describe([serving_shape(f"/api/widget/{number}", shape) for number, shape in enumerate(shapes)], "1")


def test_a_start_looks_at_every_shape_that_is_described_and_at_no_other() -> None:
    assert check_names(CATALOGUE.routes, CATALOGUE.collections.values()) == SCHEMAS


def test_plugins_that_give_two_shapes_one_name_do_not_start() -> None:
    plugins = load_plugins(())
    clashing = serving_shape("/api/v1/crm/clash", obj("Customer", {"name": text()}, nullable=False))
    crm = next(plugin for plugin in plugins if plugin.name == "crm")
    others = [plugin for plugin in plugins if plugin is not crm]
    with pytest.raises(RegistryError, match="two different schemas called Customer"):
        freeze([*others, replace(crm, routes=(*crm.routes, clashing))])


def without_labels(part: Any) -> Any:
    if isinstance(part, list):
        return [without_labels(one) for one in part]
    if not isinstance(part, dict):
        return part
    return {name: without_labels(one) for name, one in part.items() if name != "title" or not isinstance(one, str)}


def test_errors_are_written_once_so_an_operation_takes_under_3400_bytes() -> None:
    assert len(to_json(without_labels(DOCUMENT))) / len(CATALOGUE.routes) < 3400


def test_a_field_is_titled_with_its_label_in_the_language_of_the_document() -> None:
    chinese = describe(CATALOGUE.routes, "1", "zh")["components"]["schemas"]["Customer"]["properties"]
    for name, (zh, en) in {"id": ("ID", "ID"), "created_at": ("创建时间", "Created at")}.items():
        assert (chinese[name]["title"], SCHEMAS["Customer"]["properties"][name]["title"]) == (zh, en)


def test_a_field_that_refers_to_a_named_shape_is_titled_too() -> None:
    part = obj("Position", {"lng": number()}, nullable=False, label=("定位", "Position"))
    described = describe([serving_shape("/api/widget", obj("Widget", {"at": part}, nullable=False))], "1")
    at = described["components"]["schemas"]["Widget"]["properties"]["at"]
    assert at == {
        "$ref": "#/components/schemas/Position",
        "title": "Position",
    }


def test_the_version_is_that_of_the_package() -> None:
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert DOCUMENT["info"]["version"] == package["project"]["version"]


def test_the_export_writes_the_same_document(tmp_path: Path) -> None:
    assert main([str(tmp_path / "openapi.json")]) == 0
    assert json.loads((tmp_path / "openapi.json").read_text(encoding="utf-8")) == DOCUMENT


def test_the_export_of_an_unknown_plugin_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--plugins", "nonsense"]) == 1
    assert "nonsense" in capsys.readouterr().err
