"""Every field for an e-mail address accepts those of RFC 6531, and nothing that is no address."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.data.collection import Collection
from plugins.boot.runtime import Running
from plugins.testing import Client, expect
from tests.support.catalogue import chosen_collections
from tests.support.resources import creator
from tests.support.special_requests import HAND_MADE
from tests.support.valid_requests import Maker

pytestmark = pytest.mark.gen_test(timeout=60)
FIELDS = [
    (one, name)
    for one in chosen_collections()
    for name in one.writable
    if name.endswith("email") and creator(one) is not None
]
ADDRESSES = ("office@example.com", "王芳@例子.中国", "josé@exämple.de", "संपर्क@उदाहरण.भारत", "用户@example.com")
OTHERS = ("王芳", "@例子.中国", "王芳@", "王 芳@例子.中国", "王芳@@例子.中国", "王芳@例子..中国")


@pytest.mark.parametrize(("collection", "field"), FIELDS, ids=lambda one: getattr(one, "name", one))
async def test_addresses_with_letters_of_any_language_are_accepted(
    collection: Collection, field: str, chief: Client, elsewhere: Running
) -> None:
    made_by = creator(collection)
    assert made_by is not None
    maker = Maker(chief, HAND_MADE, elsewhere.catalogue)
    for address in ADDRESSES:
        exercise = await maker.exercise(made_by)
        assert expect(await replace(exercise, body={**exercise.body, field: address}).send())[field] == address
    for address in OTHERS:
        exercise = await maker.exercise(made_by)
        error = expect(await replace(exercise, body={**exercise.body, field: address}).send(), 40001)
        assert [(one["field"], one["rule"]) for one in error["errors"]] == [(field, "format")], address
