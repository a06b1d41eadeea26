"""What happens in the year: who comes and goes when, asks for what, and what HR and leaders do about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import Any

from plugins.testing import expect
from tests.api.crm.test_tables import imported
from tests.support.attendance_model import DAY, NEVER, Assigned, Left, Punch, Rostered, Special, Time
from tests.support.year_of_hr import (
    AT,
    DAYS,
    FIRST,
    GROUPS,
    LATE,
    NOTICE,
    OFFICE,
    ROTATING,
    ROTATION,
    SHIFTS,
    STAFF,
    Company,
    day_at,
    hire,
    moment,
    number_of,
)

Act = Callable[[Company], Awaitable[None]]


def clock(hours: float) -> int:
    """Hours after midnight in minutes."""
    return round(hours * 60)


def plan_day(company: Company, day: int) -> None:
    """Plan what happens on a day, and what follows from it."""
    today, base = FIRST + timedelta(days=day), day * DAY
    of_month: Mapping[int, tuple[float, Act]] = {
        5: (18, close),
        8: (11, learn_late),
        10: (13, ask_for_leave),
        15: (14, travel),
        17: (8, go_outside),
        25: (9.2, rotate),
    }
    if today.weekday() == 0 or today.day == 3:
        company.later(base + clock(10), partial(write_punches, company))
    if today.day in of_month:
        hours, act = of_month[today.day]
        company.later(base + clock(hours), partial(act, company))
    for act in SCRIPT.get(today.isoformat(), ()):
        company.later(base + clock(9), partial(act, company))
    if day < DAYS:
        for who in list(company.people):
            plan_person(company, who, day)


def plan_person(company: Company, who: str, day: int) -> None:
    """Decide when somebody comes and goes on a day, and what they ask for afterwards."""
    view, chance, base = company.view(who), company.chance, day * DAY
    if STAFF[who].group is None or not view.employed(day) or (who, day) in _GONE:
        return
    shift, known = view.shift(day), (who, day) in company.planned
    if not view.works(day):
        if not known and who not in ROTATING and chance.random() < 0.015:
            _work(company, who, base + clock(10), base + clock(15))
            ask_overtime(company, who, day, base + clock(10), base + clock(15))
        return
    free = set(shift.work)
    for one in view.times:
        if not one.kind.startswith("overtime_"):
            free -= view.minutes(one, day)
    if not free:
        return
    came, went = base + min(free) + chance.choice((-12, -7, -3)), base + max(free) + 1 + chance.choice((2, 6, 11))
    dice = chance.random()
    if known or free != shift.work or dice > 0.22:
        _work(company, who, came, went)
    elif dice < 0.05:
        _work(company, who, base + shift.start + chance.choice((4, 8, 25, 47)), went)
    elif dice < 0.07:
        _work(company, who, came, base + shift.end - chance.choice((4, 9, 33)))
    elif dice < 0.11:
        _forget(company, who, day, came, went)
    elif dice < 0.12:
        company.absences.append((who, day))
    elif dice < 0.14:
        _fall_ill(company, who, day)
    elif dice < 0.17:
        _work(company, who, None, went)
        _punch_in_doubt(company, who, came)
    else:
        _work(company, who, came, base + shift.end + 125)
        ask_overtime(company, who, day, base + shift.end, base + shift.end + 120)


def _work(company: Company, who: str, came: int | None, went: int | None) -> None:
    for at in (came, went):
        if at is not None and STAFF[who].account:
            company.later(at, partial(_punch, company, who), together=True)
        elif at is not None:
            company.unwritten[who].append(at)


async def _punch(company: Company, who: str, **evidence: Any) -> Any:
    made = await company.post(who, "punches", {"location": OFFICE, "accuracy": 10, **evidence})
    if made["counts"]:
        company.tell(who, Punch(told=company.now, at=company.now))
    return made


async def write_punches(company: Company) -> None:
    """HR enters the punches of those who have no account."""
    for who, times in company.unwritten.items():
        for at in sorted(times):
            if at < company.now:
                await enter_punch(company, who, at)
        company.unwritten[who] = [at for at in times if at >= company.now]


async def enter_punch(company: Company, who: str, at: int, **flags: Any) -> None:
    body = {"employee_id": company.ids[f"employee {who}"], "at": moment(at), "reason": "门禁记录", **flags}
    await company.post("hr1", "punches/enter", body)
    company.tell(who, Punch(told=company.now, at=at))


def _forget(company: Company, who: str, day: int, came: int, went: int) -> None:
    """One of the punches is missing, and most people ask for its correction."""
    forgotten, made = company.chance.choice(((came, went), (went, came)))
    _work(company, who, made, None)
    if STAFF[who].account and company.chance.random() < 0.7:
        body = {"kind": "correction", "starts_at": moment(forgotten), "reason": "忘记打卡"}
        company.later((day + 1) * DAY + clock(10.5), partial(ask, company, who, body, Punch(told=0, at=forgotten)))


async def ask(company: Company, who: str, body: dict[str, Any], fact: Punch | Time) -> None:
    """Somebody makes a request, and the leader decides the next morning; HR enters it for people without an account."""
    if not STAFF[who].account:
        entered = {**body, "employee_id": company.ids[f"employee {who}"]}
        await company.post("hr2", "requests/enter", entered)
        company.tell(who, type(fact)(**{**fact.__dict__, "told": company.now}))
        return
    made = await company.post(who, "requests", body)
    await company.post(who, f"requests/{made['id']}/submit")
    agreed = company.chance.random() < 0.93
    company.later(
        (company.now // DAY + 1) * DAY + clock(9.5), partial(decide, company, who, "requests", made["id"], fact, agreed)
    )


async def decide(company: Company, who: str, what: str, id: str, fact: Punch | Time, agreed: bool) -> None:
    """The leader of the department where somebody is today decides."""
    leader = company.approver(who)
    waiting = await company.do(leader, "GET", f"{AT}/{what}?status=pending&page_size=200")
    assert id in [one["id"] for one in waiting["items"]], (leader, who, what)
    if not agreed:
        await company.post(leader, f"{what}/{id}/reject", {"reason": "不同意"})
        return
    await company.post(leader, f"{what}/{id}/approve")
    told = type(fact)(**{**fact.__dict__, "told": company.now})
    company.tell(who, told)
    if isinstance(told, Time) and what == "leaves":
        company.granted.append((who, told, id))


def ask_overtime(company: Company, who: str, day: int, starts: int, ends: int) -> None:
    pays = company.chance.choice(("paid", "compensatory"))
    body = {"kind": "overtime", "compensation": pays, "starts_at": moment(starts), "ends_at": moment(ends)}
    fact = Time(told=0, kind=f"overtime_{pays}", starts=starts, ends=ends)
    company.later((day + 1) * DAY + clock(10.75), partial(ask, company, who, {**body, "reason": "赶工"}, fact))


def _illness(company: Company, who: str, day: int, told: int = 0) -> Time:
    """Leave of a shift; those who work in rotation take calendar days."""
    shift = company.view(who).shift(day)
    starts, ends = (0, DAY) if who in ROTATING else (shift.start, shift.end)
    return Time(told=told, kind="sick", starts=day * DAY + starts, ends=day * DAY + ends)


def _fall_ill(company: Company, who: str, day: int) -> None:
    fact = _illness(company, who, day)
    company.planned.add((who, day))
    company.later((day + 1) * DAY + clock(11), partial(ask_leave, company, who, fact))


async def ask_leave(company: Company, who: str, fact: Time) -> None:
    """Somebody requests leave, and the leader decides the next morning; HR enters it for people without an account."""
    body = {"type": fact.kind, "starts_at": moment(fact.starts), "ends_at": moment(fact.ends)}
    if not STAFF[who].account:
        entered = await company.post("hr1", "leaves/enter", {**body, "employee_id": company.ids[f"employee {who}"]})
        told = Time(told=company.now, kind=fact.kind, starts=fact.starts, ends=fact.ends)
        company.tell(who, told)
        company.granted.append((who, told, entered["id"]))
        return
    made = await company.post(who, "leaves", body)
    await company.post(who, f"leaves/{made['id']}/submit")
    agreed = fact.kind == "sick" or company.chance.random() < 0.9
    company.later(
        (company.now // DAY + 1) * DAY + clock(9.75), partial(decide, company, who, "leaves", made["id"], fact, agreed)
    )


def _punch_in_doubt(company: Company, who: str, at: int) -> None:
    """A position that is too inaccurate, on which somebody decides on the next day, or after the month was closed."""
    if not STAFF[who].account:
        company.unwritten[who].append(at)
        return

    async def punch() -> None:
        made = await _punch(company, who, accuracy=900)
        assert not made["counts"], made
        dice = company.chance.random()
        if dice < 0.2:
            company.doubtful.append((who, made["id"], at))
        else:
            due = (at // DAY + 1) * DAY + clock(16)
            company.later(due, partial(review, company, None, who, made["id"], at, dice < 0.8))

    company.later(at, punch)


async def review(
    company: Company, by: str | None, who: str, id: str, at: int, agreed: bool, flags: Mapping[str, Any] | None = None
) -> None:
    """Somebody, by default the leader of then, decides on a doubtful punch, which is in their queue."""
    by = by or company.approver(who)
    queue = await company.do(by, "GET", f"{AT}/punches/queue?page_size=200")
    assert id in [one["id"] for one in queue["items"]], (by, who)
    await company.post(by, f"punches/{id}/{'accept' if agreed else 'reject'}", {"remark": "已核实", **(flags or {})})
    if agreed:
        company.tell(who, Punch(told=company.now, at=at))


# -- every month


def month_after(company: Company, months: int) -> tuple[int, int]:
    """The first and the last day of a month, by how many months it is after the current one."""
    today = FIRST + timedelta(days=company.now // DAY)
    number = today.year * 12 + today.month - 1 + months
    first, following = (date(one // 12, one % 12 + 1, 1) for one in (number, number + 1))
    return (first - FIRST).days, (following - FIRST).days - 1


async def close(company: Company) -> None:
    """HR closes the month before."""
    _, last = month_after(company, -1)
    await company.post("hr1", "attendance/closings", {"closed_to": day_at(last), "reason": "工资已核算"})
    if last >= 0:
        company.closings.append((company.now, last))


async def rotate(company: Company, months: int = 1) -> None:
    """HR rosters the workshop for a month."""
    first, last = month_after(company, months)
    for place, who in enumerate(ROTATING):
        until = min(last, _ROTATES_UNTIL.get(who, NEVER), company.view(who).last)
        if until < first:
            continue
        body = {"from": day_at(first), "to": day_at(until), "employee_ids": [company.ids[f"employee {who}"]]}
        start = (first + place) % len(ROTATION)
        await company.post("hr2", f"roster-patterns/{company.ids['rotation']}/apply", {**body, "start": start + 1})
        days = range(first, until + 1)
        shifts = (ROTATION[(start + number) % len(ROTATION)] for number in range(len(days)))
        company.tell(
            who, *(Rostered(told=company.now, day=day, shift=one) for day, one in zip(days, shifts, strict=True))
        )


async def ask_for_leave(company: Company) -> None:
    """People ask for leave in the next month; HR cancels a little of it before it begins."""
    first, last = month_after(company, 1)
    month = int(day_at(first)[5:7])
    for who in company.people:
        view = company.view(who)
        asked = [one for one in view.times if one.kind == "annual"]
        if STAFF[who].group is None or STAFF[who].on or len(asked) > 7 or company.chance.random() > 0.7:
            continue
        days = [
            day
            for day in range(first, min(last, view.last) + 1)
            if view.works(day) and (who, day) not in company.planned and (who, day) not in _GONE
        ]
        if not days:
            continue
        day = company.chance.choice(days)
        company.planned.add((who, day))
        shift, cares = view.shift(day), sum(one.kind == "care" for one in view.times)
        spans = (
            [(shift.start, shift.end), (shift.start, shift.pause[0]), (shift.pause[1], shift.end)]
            if shift.pause
            else []
        )
        kind, (starts, ends) = "annual", (0, DAY) if who in ROTATING else company.chance.choice(spans)
        if who not in ROTATING and 2 <= month < 12 and cares < month - 1 and company.chance.random() < 0.3:
            kind, starts, ends = "care", shift.end - 120, shift.end
        await ask_leave(company, who, Time(told=0, kind=kind, starts=day * DAY + starts, ends=day * DAY + ends))
    today, _ = month_after(company, 0)
    company.later((today + 26) * DAY + clock(15), partial(cancel_some, company, first))


async def cancel_some(company: Company, first: int) -> None:
    """HR cancels leave of the next month for two people."""
    due = [one for one in company.granted if one[1].starts >= first * DAY and one[1] in company.people[one[0]].facts]
    for who, fact, id in company.chance.sample(due, min(2, len(due))):
        await company.post("hr1" if who != "hr1" else "hr2", f"leaves/{id}/cancel")
        company.take_back(who, fact)


async def travel(company: Company) -> None:
    """Somebody of the research department asks for a trip of some days; HR enters a way of somebody without an account."""
    day = company.now // DAY + 5
    for who in ("rd1", "rd2", "rd3", "lo2"):
        days = [(who, one) for one in range(day, day + 4)]
        if company.chance.random() < 0.6 and not company.planned.intersection(days):
            company.planned.update(days)
            starts, ends = day * DAY + clock(9), (day + 3) * DAY + clock(18)
            body = {"kind": "trip", "starts_at": moment(starts), "ends_at": moment(ends), "reason": "客户现场"}
            await ask(company, who, body, Time(told=0, kind="trip", starts=starts, ends=ends))


async def go_outside(company: Company) -> None:
    """Some are at a customer's on the afternoon of the next days."""
    for who in ("rd4", "rd5", "rd6", "lo1", "lo3"):
        day = company.now // DAY + 2
        if (who, day) not in company.planned and company.view(who).employed(day) and (who, day) not in _GONE:
            company.planned.add((who, day))
            starts, ends = day * DAY + clock(13), day * DAY + clock(18)
            body = {"kind": "outside", "starts_at": moment(starts), "ends_at": moment(ends), "reason": "外出办事"}
            await ask(company, who, body, Time(told=0, kind="outside", starts=starts, ends=ends))


async def learn_late(company: Company) -> None:
    """After the month was closed, HR learns more of it: forgotten punches, illness, work instead of leave, overtime."""
    first, last = month_after(company, -1)
    if first < 0:
        return
    absent = [(who, day) for who, day in company.absences if first <= day <= last and who != "hr1"]
    company.chance.shuffle(absent)
    for who, day in absent[:2]:
        shift = company.view(who).shift(day)
        for at in (shift.start - 5, shift.end + 5):
            await enter_punch(company, who, day * DAY + at, **LATE)
    for who, day in absent[2:3]:
        fact = _illness(company, who, day, company.now)
        body = {"type": "sick", "starts_at": moment(fact.starts), "ends_at": moment(fact.ends), **LATE}
        await company.post("hr1", "leaves/enter", {**body, "employee_id": company.ids[f"employee {who}"]})
        company.tell(who, fact)
    for who, id, at in [one for one in company.doubtful if first <= one[2] // DAY <= last]:
        await review(company, "hr1" if who == "hr2" else "hr2", who, id, at, True, LATE)
    company.doubtful = [one for one in company.doubtful if one[2] // DAY > last]
    taken = [
        (who, fact, id)
        for who, fact, id in company.granted
        if fact.kind == "annual" and first <= fact.starts // DAY <= last and fact in company.people[who].facts
    ]
    for who, fact, id in taken[:1]:
        await company.post("hr2" if who == "hr1" else "hr1", f"leaves/{id}/cancel", LATE)
        company.take_back(who, fact)
    await work_late(company, "lo2", first, last)


async def work_late(company: Company, who: str, first: int, last: int) -> None:
    """HR enters overtime of a closed day, for which there is time off."""
    view = company.view(who)
    day = next(one for one in range(last, first, -1) if view.works(one) and (who, one) not in company.planned)
    company.planned.add((who, day))
    begins = day * DAY + view.shift(day).end + 180
    body = {"kind": "overtime", "compensation": "compensatory", "reason": "盘点", **LATE}
    span = {"starts_at": moment(begins), "ends_at": moment(begins + 240)}
    await company.post("hr2", "requests/enter", {**body, **span, "employee_id": company.ids[f"employee {who}"]})
    company.tell(who, Time(told=company.now, kind="overtime_compensatory", starts=begins, ends=begins + 240))


# -- once in the year


async def import_notice(company: Company) -> None:
    """HR imports the holidays of the next year."""
    table = "day,kind,name\n" + "".join(f"{','.join(one)}\n" for one in NOTICE)
    report = await imported(company.clients["hr1"], f"{AT}/special-days", table.encode(), dry_run="false")
    assert (report["created"], report["failed"]) == (len(NOTICE), 0), report
    company.common += [
        Special(told=company.now, day=number_of(day), works=kind == "workday") for day, kind, _ in NOTICE
    ]


def _declare(day: str) -> Act:
    async def declare(company: Company) -> None:
        await company.post("hr1", "special-days/rehearse", {"day": day, "kind": "holiday", "name": "防汛"})
        await company.post("hr1", "special-days", {"day": day, "kind": "holiday", "name": "防汛"})
        company.common.append(Special(told=company.now, day=number_of(day), works=False))

    return declare


def _hire(who: str) -> Act:
    return lambda company: hire(company, who)


def _move(who: str, department: str, group: str, first: str, last: str | None = None) -> Act:
    async def move(company: Company) -> None:
        body = {"from": first, "to": last, "department_id": company.ids[department]}
        at = f"employees/{company.ids[f'employee {who}']}/assignments"
        await company.post("hr1", at, {**body, "group_id": company.ids[f"group {group}"]})
        until = number_of(last) if last else NEVER
        told = {"told": company.now, "first": number_of(first), "last": until}
        company.tell(who, Assigned(**told, department=department, group=GROUPS[group]))

    return move


def _leave_company(who: str, last: str) -> Act:
    async def leave(company: Company) -> None:
        at = f"{AT}/employees/{company.ids[f'employee {who}']}"
        version = (await company.do("hr1", "GET", at))["version"]
        await company.do("hr1", "PATCH", at, {"version": version, "left_on": last})
        company.tell(who, Left(told=company.now, day=number_of(last)))

    return leave


def _ask_leave(who: str, kind: str, first: str, last: str) -> Act:
    async def request(company: Company) -> None:
        days = range(number_of(first), number_of(last) + 1)
        company.planned.update((who, day) for day in days)
        await ask_leave(company, who, Time(told=0, kind=kind, starts=days[0] * DAY, ends=(days[-1] + 1) * DAY))

    return request


def _swap(who: str, other: str, first: str, *, cancelled: bool = False) -> Act:
    async def swap(company: Company) -> None:
        for day in range(number_of(first), number_of(first) + 10):
            mine, theirs = (company.view(one) for one in (who, other))
            shifts = [one.shift(day) if one.works(day) else None for one in (mine, theirs)]
            body = {"kind": "swap", "day": day_at(day), "swap_with": company.ids[f"employee {other}"], "reason": "家事"}
            if company.planned & {(who, day), (other, day)} or shifts[0] == shifts[1]:
                continue
            made = await company.post(who, "requests", body)
            await company.post(other, f"requests/swaps/{made['id']}/agree")
            reply = await company.clients[who].post(f"{AT}/requests/{made['id']}/submit")
            if reply.code:
                expect(reply, 40901)  # too little rest
                continue
            await company.post(company.approver(who), f"requests/{made['id']}/approve")
            company.planned |= {(who, day), (other, day)}
            told = [Rostered(told=company.now, day=day, shift=one) for one in shifts[::-1]]
            for whose, one in zip((who, other), told, strict=True):
                company.tell(whose, one)
            if cancelled:
                company.clock.minute += 5
                await company.post("hr1", f"requests/{made['id']}/cancel")
                for whose, one in zip((who, other), told, strict=True):
                    company.take_back(whose, one)
            return
        raise AssertionError(f"no day on which {who} and {other} can swap")

    return swap


def _offer(who: str, first: str) -> Act:
    async def offer(company: Company) -> None:
        """HR offers a shift, which somebody takes on the second of two days off."""
        view = company.view(who)
        day = next(
            one
            for one in range(number_of(first), number_of(first) + 20)
            if not any(view.works(beside) for beside in (one - 1, one)) and (who, one) not in company.planned
        )
        body = {"day": day_at(day), "shift_id": company.ids["early"], "department_id": company.ids["车间"]}
        made = await company.post("hr2", "rosters", body)
        await company.post(who, f"rosters/{made['id']}/take")
        company.planned.add((who, day))
        company.tell(who, Rostered(told=company.now, day=day, shift=SHIFTS["early"]))

    return offer


_ROTATES_UNTIL = {"ws8": number_of("2031-06-15")}
# rd4 stays away without a word, as HR learns after the month was closed
_GONE = {("rd4", day) for day in range(number_of("2031-09-20"), DAYS)}
SCRIPT: Mapping[str, tuple[Act, ...]] = {
    "2030-12-01": (partial(rotate, months=0), _ask_leave("rd1", "annual", "2030-12-23", "2030-12-24")),
    "2030-12-10": (import_notice,),
    "2031-02-03": (_hire("rd7"),),
    "2031-02-11": (_swap("ws1", "ws2", "2031-02-14"), _swap("ws3", "ws4", "2031-02-14", cancelled=True)),
    "2031-02-20": (_move("rd6", "车间", "early", "2031-03-03"),),
    "2031-03-11": (_ask_leave("rd2", "annual", "2031-04-03", "2031-04-04"), _offer("ws5", "2031-03-13")),
    "2031-04-11": (_hire("ws9"),),
    "2031-04-22": (_ask_leave("ws7", "annual", "2031-05-19", "2031-05-23"),),
    "2031-05-06": (_leave_company("ws7", "2031-05-20"),),
    "2031-05-12": (_declare("2031-04-04"),),
    "2031-05-20": (_move("ws8", "后勤部", "kitchen", "2031-06-16"),),
    "2031-05-28": (_move("rd5", "车间", "early", "2031-06-02", "2031-06-13"),),
    "2031-06-23": (_declare("2031-06-20"),),
    "2031-06-27": tuple(_move(f"rd{one}", "研发部", "summer", "2031-07-01", "2031-08-31") for one in range(1, 5)),
    "2031-08-11": (_leave_company("lo3", "2031-08-31"), _swap("ws1", "ws2", "2031-08-14")),
    "2031-10-08": (_leave_company("rd4", "2031-09-19"),),
}
