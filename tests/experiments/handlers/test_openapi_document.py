"""The OpenAPI document is valid as a whole."""

from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.support.document import DOCUMENT


def test_the_document_is_valid_openapi_31() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    assert [error.message for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []
