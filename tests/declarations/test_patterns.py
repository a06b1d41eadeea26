"""Patterns of the API: every engine that a client may use compiles them, and finds the same in them as the server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import warnings
from functools import cache

import jsonschema_rs
import pytest
import regress
from hypothesis import HealthCheck, given, settings, strategies as st

from handlers.schema.fields import array, fields_in, mapping, obj, text, tree_of
from handlers.schema.json_schema import json_schema
from handlers.schema.patterns import syntax_fault
from tests.support.document import DOCUMENT


def patterns(part: object) -> set[str]:
    """Every pattern in a JSON document."""
    if isinstance(part, list):
        return set().union(*map(patterns, part))
    if not isinstance(part, dict):
        return set()
    own = part.get("pattern")
    return set().union(*map(patterns, part.values())) | ({own} if isinstance(own, str) else set())


PATTERNS = sorted(patterns(DOCUMENT))
# no part of a pair that UTF-16 needs for one character: JSON cannot carry it
CHARACTERS = [chr(code) for code in (*range(0xD800), *range(0xE000, 0x11000)) if code % 7 == 0 or code < 0x3100]


class Engines:
    """One pattern in the engine of the server, in Python's, and in one of ECMA-262."""

    def __init__(self, pattern: str) -> None:
        self.server = jsonschema_rs.validator_for({"type": "string", "pattern": pattern})
        self.python = re.compile(pattern)
        self.ecma = regress.Regex(pattern, "u")

    def found(self, value: str) -> set[bool]:
        """What they say, without Python's own rule that `$` is also before a line break at the end."""
        say = {self.server.is_valid(value), self.ecma.find(value) is not None}
        return say if value.endswith("\n") else say | {self.python.search(value) is not None}


engines = cache(Engines)


def test_node_compiles_every_pattern() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    program = "for (const pattern of JSON.parse(process.argv[1])) new RegExp(pattern, 'u')"
    done = subprocess.run([node, "-e", program, json.dumps(PATTERNS)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_every_engine_compiles_every_pattern() -> None:
    with warnings.catch_warnings(action="error"):  # such as Python's on a set within a set
        for pattern in PATTERNS:
            re.compile(pattern)
    assert {pattern: syntax_fault(pattern) for pattern in PATTERNS if syntax_fault(pattern) is not None} == {}


def test_every_character_means_the_same_to_every_engine() -> None:
    # alone, and between two that most patterns take
    differing = [
        (pattern, value)
        for pattern in PATTERNS
        for character in CHARACTERS
        for value in (character, f"a{character}a")
        if len(engines(pattern).found(value)) > 1
    ]
    assert differing == []


def check_texts(pattern: str, examples: int) -> None:
    """Fail where the engines differ on a text that the pattern matches, or nearly so."""
    matching = st.from_regex(pattern)
    near = st.tuples(matching, st.text(max_size=3)).map("".join)

    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.one_of(matching, near, near.map(lambda value: value[::-1])))
    def agree(value: str) -> None:
        assert len(engines(pattern).found(value)) == 1, pattern

    agree()


def test_a_text_means_the_same_to_every_engine() -> None:
    for pattern in PATTERNS:
        check_texts(pattern, examples=25)


def test_what_a_client_cannot_compile_is_reported() -> None:
    odd = [r"^[\"]$", r"^\-$", r"(?P<name>a)", r"\A", "[]a]", "a++", "}"]
    assert [pattern for pattern in odd if not syntax_fault(pattern)] == []


def test_patterns_are_found_wherever_they_are() -> None:
    name = text(pattern="^a$")
    tree = tree_of("Tree", {"name": name})
    shape = obj("Shape", {"names": array(name), "by": mapping(obj(None, {"name": name})), "tree": tree})
    assert [path for path, field in fields_in(shape) if "pattern" in field.rules] == [
        "names[]",
        "by.*.name",
        "tree.name",
        "tree.children[].name",
    ]
    assert patterns(json_schema(text(pattern="^a$"), "input")) == {"^a$"}
