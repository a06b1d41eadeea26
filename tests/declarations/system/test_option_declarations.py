"""Contradictory options are refused at start, each with a sentence."""

import pytest

from plugins.api import Message, Option, Plugin, integer, text
from plugins.boot.registry import RegistryError, freeze, load_plugins

WHAT = Message("设置", "A setting")


def refused(*options: Option) -> str:
    """Return the problems that the registry reports for a plugin with these options."""
    with pytest.raises(RegistryError) as error:
        freeze([*load_plugins(()), Plugin(name="acme", title=WHAT, options=options)])
    return str(error.value)


def test_two_plugins_cannot_declare_the_same_option() -> None:
    assert "declares the option site_name, which is declared by system too" in refused(
        Option("site_name", text(), WHAT)
    )


def test_a_default_must_fit_its_own_shape() -> None:
    assert "acme_days has a default that its own shape" in refused(Option("acme_days", integer(default="x"), WHAT))


def test_an_option_without_a_default_must_allow_null() -> None:
    assert "acme_days has a default" in refused(Option("acme_days", integer(nullable=False), WHAT))


def test_a_key_is_a_name_that_any_client_can_write() -> None:
    assert "acme.days must be named" in refused(Option("acme.days", integer(), WHAT))
