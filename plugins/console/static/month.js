// A month as a calendar: the state of each day, for lists whose view declares it.

import { call } from "./session.js";
import { filters, textOf } from "./values.js";
import { element, iconButton, language, say } from "./words.js";

const WEEK = 7, DAY = 86_400_000, MONDAY = Date.UTC(2024, 0, 1), MOST = 200;
const worded = (date, options) => new Intl.DateTimeFormat(language, { timeZone: "UTC", ...options }).format(date);
const iso = (date) => date.toISOString().slice(0, 10);

/** The days of a month; where the rows are of several records, `of` is the filter that chooses one, and `from` names its value. */
export function month(place, properties) {
  const today = filters.moment(new Date().toISOString()).slice(0, 10); // in the business time zone
  const title = element("h3"), said = element("p", { role: "status" }), body = element("tbody");
  let first = new Date(`${today.slice(0, 7)}-01`), asked = "", whose = null;
  const last = () => new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0));
  const move = (days) => { first = new Date(`${iso(new Date(+(days < 0 ? first : last()) + days * DAY)).slice(0, 7)}-01`); load(); };

  const tagOf = (row) => {
    const { state } = properties();
    return element("span", { className: state.map?.[row[state.name]]?.className ?? "tag", textContent: textOf(state, row) });
  };
  const cellOf = (date, rows) => {
    const cell = element("td", {}, element("time", { dateTime: date, textContent: Number(date.slice(-2)) }), ...rows.map(tagOf));
    if (date === today) cell.setAttribute("aria-current", "date");
    return cell;
  };
  function draw(rows) {
    const cells = Array.from({ length: (first.getUTCDay() + WEEK - 1) % WEEK }, () => element("td"));
    for (let at = +first; at <= last(); at += DAY) {
      const date = iso(new Date(at));
      cells.push(cellOf(date, rows.filter((one) => filters.when(one[properties().day]).startsWith(date))));
    }
    while (cells.length % WEEK) cells.push(element("td"));
    body.replaceChildren(...Array.from({ length: cells.length / WEEK }, (_, week) => element("tr", {}, ...cells.slice(week * WEEK, (week + 1) * WEEK))));
  }
  const counted = (rows) => {
    const states = rows.map((one) => textOf(properties().state, one));
    return [...new Set(states)].map((one) => `${one} ${states.filter((other) => other === one).length}`).join(" · ");
  };

  async function load() {
    const { path, day, of, ask } = properties();
    title.textContent = worded(first, { year: "numeric", month: "long" });
    const query = { [`${day}_from`]: iso(first), [`${day}_to`]: iso(last()), page_size: MOST, ...whose ? { [of]: whose } : {} };
    const now = asked = JSON.stringify(query);
    const reply = await call(path, { query });
    if (now !== asked) return; // another month was asked for meanwhile
    const rows = reply.data?.items ?? [], several = new Set(rows.map((one) => one[of])).size > 1;
    draw(several ? [] : rows);
    said.textContent = reply.code !== 0 ? reply.msg : several ? ask : counted(rows) || say("none");
  }

  const heads = Array.from({ length: WEEK }, (_, at) => element("th", { scope: "col", textContent: worded(MONDAY + at * DAY, { weekday: "short" }) }));
  place.replaceChildren(
    element("div", { className: "turn" }, iconButton("chevron-down", say("monthBefore"), () => move(-1), { className: "earlier" }), title, iconButton("chevron-down", say("monthAfter"), () => move(1), { className: "later" })),
    said, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
  return {
    update: ({ data, from }) => {
      const now = data[from] ?? "";
      if (now !== whose) { whose = now; load(); }
    },
  };
}
