"""Days and months of dashboards: the business time zone, open ends, order, and refused queries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from bson import ObjectId

from handlers.data.lists.series import by_day, by_month
from handlers.reports.periods import Period, period_of
from handlers.request import Request
from handlers.schema.conversion import store_money
from handlers.schema.errors import ValidationFailed
from plugins.boot.runtime import Running
from plugins.crm.contract_records import PAYMENTS
from plugins.hrm.attendance_records import DAYS
from plugins.testing import Client, People, expect

pytestmark = [pytest.mark.gen_test(timeout=30), pytest.mark.usefixtures("payments_without_contracts")]
SEES = ("dashboard:chart:sales-trend", "dashboard:chart:finance-summary", "dashboard:chart:sales-ranking")
COUNT: Mapping[str, Any] = {"count": {"$sum": 1}}
NOW = datetime(2026, 11, 20, 16, 30, tzinfo=UTC)  # the 21st in Shanghai


async def paid(tradewind: Running, person: Client, *moments: datetime) -> None:
    """Payments of one yuan that the person entered."""
    payments = tradewind.service.database.store(PAYMENTS)
    for moment in moments:
        made = await payments.create({"amount": store_money(Decimal(1)), "paid_at": moment, "shared_with": []})
        await payments.update_unversioned({"_id": made["id"]}, {"$set": {"creator_id": person.user["userId"]}})


async def attended(tradewind: Running, person: Client, *days: str) -> None:
    """Create daily results of the employee for each of these days."""
    store = tradewind.service.database.store(DAYS)
    person_id = person.user["userId"]
    await store.create_many(
        [
            {
                "employee_id": ObjectId(),
                "employee_name": "Mei",
                "user_id": person_id,
                "department_id": None,
                "day": day,
                "status": "normal",
                "late_minutes": 0,
                "early_minutes": 0,
            }
            for day in days
        ]
    )


def asked(zone: str = "Asia/Shanghai", **query: Any) -> Period:
    settings = SimpleNamespace(zone=ZoneInfo(zone))
    req = SimpleNamespace(now=NOW, query=query, service=SimpleNamespace(settings=settings), route=None)
    return period_of(cast(Request, req))


async def test_a_payment_at_half_past_four_in_utc_is_of_the_next_shanghai_day(
    tradewind: Running, people: People
) -> None:
    person = await people.person(SEES)
    yesterday = datetime.now(UTC).replace(hour=0, minute=0) - timedelta(days=2)
    await paid(tradewind, person, yesterday.replace(hour=15, minute=59), yesterday.replace(hour=16, minute=30))
    trend = expect(await person.get("/api/dashboard/sales-trend?days=7"))
    day = yesterday.date()
    assert {row["date"]: row["amount"] for row in trend["items"] if row["count"]} == {
        f"{day}": "1.00",
        f"{day + timedelta(days=1)}": "1.00",
    }


async def test_the_last_moment_of_a_month_is_not_of_the_next(tradewind: Running, people: People) -> None:
    person = await people.person(SEES)
    edge = datetime(2026, 2, 28, 16, tzinfo=UTC)
    await paid(tradewind, person, edge - timedelta(milliseconds=1), edge, edge)
    months = expect(await person.get("/api/dashboard/finance-summary?date_from=2026-02-01&date_to=2026-03-31"))["items"]
    assert [(row["month"], row["income"]) for row in months] == [("2026-02", "1.00"), ("2026-03", "2.00")]


async def test_a_range_takes_both_of_its_days(tradewind: Running, people: People) -> None:
    person = await people.person(SEES)
    await paid(tradewind, person, *(datetime(2026, 5, day, 4, tzinfo=UTC) for day in range(1, 8)))
    answer = expect(await person.get("/api/dashboard/finance-summary?date_from=2026-05-03&date_to=2026-05-05"))
    assert answer["income"] == "3.00"


async def test_an_end_that_is_left_open_bounds_nothing(tradewind: Running, people: People) -> None:
    person = await people.person(SEES)
    await paid(tradewind, person, datetime(1996, 7, 4, tzinfo=UTC), datetime(1998, 5, 6, tzinfo=UTC))
    everything = expect(await person.get("/api/dashboard/finance-summary"))
    assert (everything["income"], everything["items"][0]["month"]) == ("2.00", "1996-07")
    until = expect(await person.get("/api/dashboard/finance-summary?date_to=1996-12-31"))
    assert (until["income"], len(until["items"])) == ("1.00", 6)
    since = expect(await person.get("/api/dashboard/sales-ranking?date_from=1997-01-01"))
    assert since["items"] == []  # nobody owns these payments


@pytest.mark.parametrize(
    "query", ["date_from=0001-01-01", "date_to=9999-12-31", "date_from=0001-01-01&date_to=9999-12-31"]
)
async def test_dates_at_the_end_of_the_calendar_are_refused(query: str, people: People) -> None:
    person = await people.person(SEES)
    reply = await person.get(f"/api/dashboard/finance-summary?{query}")
    expect(reply, 40001)
    assert {(fault["field"], fault["rule"]) for fault in reply.data["errors"]} == {
        (part.partition("=")[0], "bounds") for part in query.split("&")
    }


@pytest.mark.parametrize(
    ("name", "query", "code"),
    [
        ("attendance-summary", "date_from=2016-01-01&date_to=2026-01-07", 0),
        ("attendance-summary", "date_from=2016-01-01&date_to=2026-01-08", 40001),
        ("attendance-summary", "date_from=1970-01-01", 40001),
        ("attendance-summary", "date_to=2199-12-31", 0),
        ("finance-summary", "date_from=1970-01-01&date_to=2199-12-31", 0),
        ("sales-ranking", "date_from=1970-01-01&date_to=2199-12-31", 0),
    ],
)
async def test_a_series_is_whole_or_refused(name: str, query: str, code: int, admin: Client) -> None:
    reply = await admin.get(f"/api/dashboard/{name}?{query}")
    expect(reply, code)
    if code:
        assert reply.data["errors"][0]["field"] == "date_from"
        assert reply.data["errors"][0]["rule"] == "series"


async def test_a_series_has_as_many_points_as_its_range(admin: Client) -> None:
    days = expect(await admin.get("/api/dashboard/attendance-summary?date_from=2016-01-01&date_to=2026-01-07"))
    assert [row["date"] for row in days["items"][::3659]] == ["2016-01-01", "2026-01-07"]
    months = expect(await admin.get("/api/dashboard/finance-summary?date_from=1970-01-01&date_to=2199-12-31"))
    assert [row["month"] for row in months["items"][::2759]] == ["1970-01", "2199-12"]


async def test_a_mistyped_year_empties_no_default_dashboard(tradewind: Running, people: People) -> None:
    person = await people.person([*SEES, "dashboard:chart:attendance-summary"])
    today = datetime.now(ZoneInfo("Asia/Shanghai")).date()
    wrong = [datetime(year, 5, 4, 12, tzinfo=UTC) for year in (1, 206, 1969, 2062, 9999)]
    await paid(tradewind, person, *wrong, datetime(2026, 9, 4, 4, tzinfo=UTC))
    await attended(tradewind, person, *(f"{one.year:04}-05-04" for one in wrong), "2026-09-04", today.isoformat())
    money = expect(await person.get("/api/dashboard/finance-summary"))
    shown = [row["month"] for row in money["items"]]
    assert (shown[0], shown[-1], money["income"]) == ("2026-09", f"{today:%Y-%m}", "1.00")
    days = expect(await person.get("/api/dashboard/attendance-summary"))
    dates = [row["date"] for row in days["items"]]
    assert (dates[0], dates[-1], days["present"]) == ("2026-09-04", today.isoformat(), 2)
    # a mistyped but valid year lengthens the series, which stays complete
    await paid(tradewind, person, datetime(1976, 5, 4, 12, tzinfo=UTC))
    money = expect(await person.get("/api/dashboard/finance-summary"))
    assert (money["items"][0]["month"], money["income"]) == ("1976-05", "2.00")
    assert sum(Decimal(row["income"]) for row in money["items"]) == 2


@pytest.mark.parametrize(
    "query",
    [
        "sales-trend?days=0",
        "sales-trend?days=367",
        "contract-trend?months=0",
        "contract-trend?months=37",
        "finance-summary?date_from=2026-02-30",
        "finance-summary?date_from=2026-02-02&date_to=2026-02-01",
        "sales-ranking?by=orders",
        "sales-ranking?limit=0",
        "overview?days=3",
    ],
)
async def test_a_query_out_of_bounds_is_refused(query: str, admin: Client) -> None:
    expect(await admin.get(f"/api/dashboard/{query}"), 40001)


def test_the_last_days_end_with_today_in_the_business_time_zone() -> None:
    assert asked(days=3).every_day({}) == ["2026-11-19", "2026-11-20", "2026-11-21"]
    assert asked("UTC", days=2).every_day({}) == ["2026-11-19", "2026-11-20"]


def test_the_last_months_end_with_the_whole_of_this_month() -> None:
    period = asked(months=2)
    assert period.every_month({}) == ["2026-10", "2026-11"]
    assert (period.first, period.last) == (date(2026, 10, 1), date(2026, 11, 30))


def test_open_ends_reach_from_the_first_row_to_today() -> None:
    assert asked().every_month({}) == ["2026-11"]
    assert asked().every_month({"2026-09": []}) == ["2026-09", "2026-10", "2026-11"]
    assert asked(date_to="2026-10-31").every_month({"2026-09": []}) == ["2026-09", "2026-10"]


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(ValidationFailed):
        asked(date_from="2026-11-02", date_to="2026-11-01")


def test_the_period_before_has_as_many_days_or_months() -> None:
    def before(**query: str) -> list[str]:
        return [*asked(**query).before.values()]

    assert before(date_from="2026-11-05", date_to="2026-11-10") == ["2026-10-30", "2026-11-04"]
    assert before(date_from="2026-03-01", date_to="2026-04-30") == ["2026-01-01", "2026-02-28"]
    assert before(date_from="2026-11-01") == ["2026-10-01", "2026-10-21"]
    assert asked().before == {"date_to": "2026-10-22"}


async def test_figures_of_the_period_before_are_read_beside_those_of_the_period(
    tradewind: Running, people: People
) -> None:
    person = await people.person([*SEES, "dashboard:chart:overview"])
    await paid(tradewind, person, *(datetime(2026, *day, 4, tzinfo=UTC) for day in ((5, 3), (5, 31), (6, 2))))
    await paid(tradewind, person, datetime.now(UTC))
    query = "date_from=2026-06-01&date_to=2026-06-30"
    assert expect(await person.get(f"/api/dashboard/finance-summary/before?{query}")) == {
        "date_from": "2026-05-01",
        "date_to": "2026-05-31",
        "income": "2.00",
        "expense": "0.00",
        "profit": "2.00",
    }
    now, before = [expect(await person.get(f"/api/dashboard/overview{at}")) for at in ("", "/before")]
    assert (now["received_amount"], before["received_amount"], before["date_from"]) == ("4.00", "3.00", None)


async def ids_of(tradewind: Running, *moments: datetime) -> dict[str, Any]:
    """Create payments of one yuan and return the filter of them."""
    store = tradewind.service.database.store(PAYMENTS)
    made = [
        await store.create({"amount": store_money(Decimal(1)), "paid_at": moment, "shared_with": []})
        for moment in moments
    ]
    return {"_id": {"$in": [payment["id"] for payment in made]}}


async def counted(
    tradewind: Running, period: Period, where: Mapping[str, Any]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the number of payments by day and by month."""
    store = tradewind.service.database.store(PAYMENTS)
    days, months = [await by(store, "paid_at", period, COUNT, where) for by in (by_day, by_month)]
    return {one: row["count"] for one, row in days.items()}, {one: row["count"] for one, row in months.items()}


async def test_days_of_23_and_25_hours_are_grouped_as_the_calendar_has_them(tradewind: Running) -> None:
    # New York put its clocks forward on 2026-03-08 and back on 2026-11-01
    zone = ZoneInfo("America/New_York")
    made = [datetime(2026, month, day, hour, tzinfo=zone) for month, day in ((3, 8), (11, 1)) for hour in (0, 23)]
    where = await ids_of(tradewind, *made)
    for query in ({"date_from": "2026-03-01", "date_to": "2026-11-30"}, {}):
        days, months = await counted(tradewind, asked("America/New_York", **query), where)
        assert days == {"2026-03-08": 2, "2026-11-01": 2}
        assert months == {"2026-03": 2, "2026-11": 2}


@pytest.mark.parametrize("query", [{}, {"date_from": "1990-01-01"}, {"date_to": "2027-12-31"}])
async def test_years_in_which_shanghai_had_summer_time_are_grouped_like_those_without(
    query: dict[str, str], tradewind: Running
) -> None:
    summer, winter = datetime(1990, 7, 31, 14, 59), datetime(1990, 12, 31, 15, 59)  # the last minutes of the day
    edges = [moment.replace(tzinfo=UTC) for moment in (summer, winter, datetime(2026, 2, 28, 15, 59))]
    where = await ids_of(tradewind, *edges, *(edge + timedelta(minutes=1) for edge in edges))
    days, months = await counted(tradewind, asked(**query), where)
    assert days == dict.fromkeys(
        ("1990-07-31", "1990-08-01", "1990-12-31", "1991-01-01", "2026-02-28", "2026-03-01"), 1
    )
    assert months == dict.fromkeys(("1990-07", "1990-08", "1990-12", "1991-01", "2026-02", "2026-03"), 1)


async def test_the_middle_of_a_month_is_not_the_sum_of_those_of_its_days(tradewind: Running) -> None:
    where = await ids_of(tradewind, *(datetime(2026, 5, day, 4, tzinfo=UTC) for day in (1, 1, 1, 2)))
    store = tradewind.service.database.store(PAYMENTS)
    mean = {"day": {"$avg": {"$dayOfMonth": "$paid_at"}}}
    assert await by_month(store, "paid_at", asked(), mean, where) == {"2026-05": {"day": 1.25}}
