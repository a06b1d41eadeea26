"""Templates of e-mails cannot reach, loop or compute; addresses and servers are what they seem."""

from __future__ import annotations

import pytest

from plugins.notification.mail import SmtpServer, clean_address
from plugins.notification.templates import MailTemplate, TemplateRefused, check, render

REFUSED = {
    "attribute": "{{ title.__class__.__mro__ }}",
    "item": "{{ title['__class__'] }}",
    "filter that reads attributes": "{{ title | attr('__class__') }}",
    "map": "{{ [title] | map(attribute='upper') }}",
    "call": "{{ title.upper() }}",
    "function": "{{ range(10) }}",
    "global": "{{ cycler }}",
    "self": "{{ self }}",
    "unknown value": "{{ password }}",
    "file": "{% include '/etc/passwd' %}",
    "import": "{% import 'os' as os %}",
    "base": "{% extends 'http://127.0.0.1/' %}",
    "loop": "{% for a in title %}{% for b in title %}x{% endfor %}{% endfor %}",
    "power": "{{ 9 ** 9 ** 9 }}",
    "repetition": "{{ 'a' * 1000000000 }}",
    "padding": "{{ title | center(1000000000) }}",
    "format": "{{ '%999999999d' | format(1) }}",
    "number": "{{ " + "9" * 19_000 + " }}",
    "assignment": "{% set title = 1 %}",
    "macro": "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    "filter of a value": "{{ title | truncate(body) }}",
    "nesting": "{% if title %}" * 900 + "{% endif %}" * 900,
    "brackets": "{{ " + "(" * 2000 + "title" + ")" * 2000 + " }}",
    "parts": "{{ title }}" * 1001,
    "unfinished": "{{ title",
}


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
def test_a_template_that_reaches_for_more_is_refused(source: str) -> None:
    with pytest.raises(TemplateRefused):
        check(source)
    with pytest.raises(TemplateRefused):
        render(MailTemplate("s", source), {"title": "t"})


def test_values_are_texts_wherever_they_look_like_more() -> None:
    values = {"title": "{{ name }}<b>", "body": "{% include 'x' %}", "name": "王"}
    template = MailTemplate("{{ title | upper }}", "{% if body %}{{ body }}{% endif %}", "<i>{{ title }}</i>")
    made = render(template, values)
    assert (made.subject, made.text) == ("{{ NAME }}<B>", "{% include 'x' %}")
    assert made.html == "<i>{{ name }}&lt;b&gt;</i>"


@pytest.mark.parametrize(
    ("given", "sent_to"),
    [
        ("a.b+c@example.com", "a.b+c@example.com"),
        ("user@例子.中国", "user@xn--fsqu00a.xn--fiqs8s"),
        ("a@b", None),
        ("a@example.com\r\nBcc: b@example.com", None),
        ("a@example.com, b@example.com", None),
        ('"a b"@example.com', None),
        ("a@[169.254.169.254]", None),
        ("用户@example.com", None),
        ("@example.com", None),
        (f"{'a' * 65}@example.com", None),
    ],
)
def test_an_address_is_one_mailbox_of_a_named_domain(given: str, sent_to: str | None) -> None:
    assert clean_address(given) == sent_to


def test_the_mail_server_is_one_url_and_without_tls_only_on_this_machine() -> None:
    far = SmtpServer.parse("smtp://u%40x:p%2Fw@mail.example.com?from=Trade%20%3Ca@example.com%3E")
    assert (far.host, far.port, far.username, far.password, far.start_tls) == (
        "mail.example.com",
        587,
        "u@x",
        "p/w",
        True,
    )
    assert str(far.sender) == "Trade <a@example.com>"
    assert SmtpServer.parse("smtps://mail.example.com?from=a@example.com").port == 465
    assert not SmtpServer.parse("smtp://127.0.0.1:25?from=a@example.com").start_tls


@pytest.mark.parametrize("url", ["http://mail", "smtps://mail.example.com", "smtps:///?from=a@example.com"])
def test_an_incomplete_mail_server_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="mail server"):
        SmtpServer.parse(url)
