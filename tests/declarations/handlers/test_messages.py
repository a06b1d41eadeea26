"""Messages with numbers in them."""

from decimal import Decimal

import pytest

from handlers.schema.messages import Message

LEFT = Message("还剩 {days} 天", "{days} {days:day|days} left of {of:>3}")


@pytest.mark.parametrize(
    ("days", "said"), [(1, "1 day"), ("1", "1 day"), (Decimal("1.0"), "1.0 day"), ("0.5", "0.5 days"), (11, "11 days")]
)
def test_an_english_message_has_the_word_for_one_or_for_several(days: object, said: str) -> None:
    assert LEFT.text("en", days=days, of=5) == f"{said} left of   5"
    assert LEFT.filled(days=days, of=5) == (f"还剩 {days} 天", f"{said} left of   5")
