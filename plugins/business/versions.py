"""Versions of a document that follow one another by day: the days on which each is in force."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from handlers.schema.fields import Field, day
from handlers.schema.values import Record

_ONE_DAY = timedelta(days=1)


def version_days(*, first: str) -> dict[str, Field]:
    """Return the fields with the days of a version; `first` says from which day the first version is in force."""
    return {
        "from": day(label=("生效日期", "From"), description=f"The first one: {first}. Null: see `replaced_on`."),
        "to": day(
            label=("截止日期", "To"), description="The day before the next version; null with a `from`: none follows."
        ),
        "replaced_on": day(
            label=("当日被替换", "Replaced on the same day"),
            description="The day from which it was to be in force, if the next version is instead: it is on no day.",
        ),
    }


def date_versions(versions: Sequence[Record], on: str | None = None) -> list[Record]:
    """Return versions, which are in order and have `from`, with their days; with a day `on`, only the one in force then."""
    following = [*(one["from"] for one in versions[1:]), None]
    dated = [{**one, **_find_days(one["from"], after)} for one, after in zip(versions, following, strict=True)]
    return [one for one in dated if on is None or _is_in_force(one, on)]


def _find_days(first: str, following: str | None) -> Record:
    if following is not None and following <= first:
        return {"from": None, "to": None, "replaced_on": first}
    last = (date.fromisoformat(following) - _ONE_DAY).isoformat() if following is not None else None
    return {"to": last, "replaced_on": None}


def _is_in_force(version: Record, on: str) -> bool:
    return version["from"] is not None and version["from"] <= on and (version["to"] is None or on <= version["to"])
