"""The compiled check says what `jsonschema`, the reference in Python, says: same verdict, same fields at fault."""

from typing import Any

from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from handlers.schema.errors import ValidationFailed
from handlers.schema.fields import Field, array, boolean, choice, integer, number, obj, text
from handlers.schema.json_schema import json_schema
from handlers.schema.validation import MAX_ERRORS, Checker

NAMES = st.sampled_from(["name", "code", "lines", "amount", "note"])
FLAGS = st.fixed_dictionaries({"required": st.booleans()})
# what the check refuses beyond the schema: what MongoDB cannot hold
BEYOND = {"nul", "maximum", "pattern"}


def leaves() -> st.SearchStrategy[Field]:
    limits = st.tuples(st.integers(-5, 5), st.integers(0, 5))
    return st.one_of(
        st.builds(lambda limits, flags: integer(minimum=limits[0], maximum=sum(limits), **flags), limits, FLAGS),
        st.builds(lambda limits, flags: number(minimum=limits[0], maximum=sum(limits), **flags), limits, FLAGS),
        st.builds(lambda least, flags: text(min_length=least, max_length=least + 3, **flags), st.integers(0, 3), FLAGS),
        st.builds(lambda flags: text(pattern="^[A-Z]+$", **flags), FLAGS),
        st.builds(lambda flags: choice("red", "green", **flags), FLAGS),
        st.builds(lambda flags: boolean(**flags), FLAGS),
    )


def larger(parts: st.SearchStrategy[Field]) -> st.SearchStrategy[Field]:
    fields = st.dictionaries(NAMES, parts, max_size=4)
    return st.one_of(
        st.builds(lambda fields, flags: obj("", fields, **flags), fields, FLAGS),
        st.builds(lambda part, most, flags: array(part, max_items=most, **flags), parts, st.integers(0, 3), FLAGS),
    )


SHAPES = st.dictionaries(NAMES, st.recursive(leaves(), larger, max_leaves=8), max_size=5).map(
    lambda fields: obj("", fields)
)
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-12, 12),
    st.floats(-12, 12, allow_nan=False).map(lambda n: round(n, 1)),
    st.sampled_from(["", "red", "ABC", "aB", "长长长长长长"]),
    st.text("aA长 \x00", max_size=4),
)
VALUES = st.dictionaries(
    NAMES | st.just("other"),
    st.recursive(ATOMS, lambda parts: st.lists(parts, max_size=4) | st.dictionaries(NAMES, parts, max_size=3)),
    max_size=5,
)


def place(error: ValidationError) -> str:
    path = ""
    for part in error.absolute_path:
        path = f"{path}[{part}]" if isinstance(part, int) else f"{path}.{part}" if path else part
    return path


def fields_at_fault(shape: Field, value: Any) -> set[str]:
    """By the reference: a missing or unknown field is at fault itself, not the object that lacks or holds it."""
    found = set()
    for error in Draft202012Validator(json_schema(shape, "input")).iter_errors(value):
        path, within = place(error), error.instance
        if error.validator == "required":
            names = [name for name in error.validator_value if name not in within and f"'{name}'" in error.message]
        elif error.validator == "additionalProperties":
            names = [name for name in within if name not in error.schema["properties"]]
        else:
            names = [""]
        found |= {f"{path}.{name}" if path and name else path or name for name in names}
    return found


@given(SHAPES, VALUES)
@settings(max_examples=200, deadline=None)
def test_verdict_and_fields_at_fault_are_those_of_the_reference(shape: Field, value: dict[str, Any]) -> None:
    expected, count = fields_at_fault(shape, value), 0
    try:
        Checker(shape)(value)
        reported: dict[str, str] = {}
    except ValidationFailed as failed:
        reported, count = {fault.field: fault.rule for fault in failed.errors}, len(failed.errors)
    # more faults than the limit are not reported
    assert expected <= set(reported) or count == MAX_ERRORS
    assert all(reported[name] in BEYOND for name in set(reported) - expected)


def test_the_reference_finds_what_is_wrong() -> None:
    shape = obj("", {"name": text(required=True), "lines": array(obj("", {"code": choice("red")}))})
    assert fields_at_fault(shape, {"lines": [{"code": "blue"}, {"size": 1}], "extra": 1}) == {
        "name",
        "lines[0].code",
        "lines[1].size",
        "extra",
    }
