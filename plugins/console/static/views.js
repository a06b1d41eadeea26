// What the buttons of a list open: views that a person keeps in this browser, and a sheet of all of its rows.

import { ask } from "./api.js";
import { tell } from "./told.js";
import { filters } from "./values.js";
import { button, dialogue, element, say } from "./words.js";

const OF_PAGES = ["page", "perPage"], ROW_PIXELS = 28, PAGE = 200, AROUND = 8, MOST = 10_000; // of the sheet; the API counts pages in so many rows

/** The columns of a list that can be switched on and off. */
function columnsOf(list) {
  return [...(list.control?.props.store.toggableColumns ?? [])];
}

function present(list) {
  const asked = Object.entries(list.props.store.query).filter(([name]) => !OF_PAGES.includes(name));
  return { query: Object.fromEntries(asked), columns: columnsOf(list).filter((one) => one.toggled).map((one) => one.name) };
}

function apply(list, { query, columns }) {
  const cleared = Object.fromEntries(Object.keys(present(list).query).map((name) => [name, ""]));
  for (const one of columnsOf(list)) if (one.toggled !== columns.includes(one.name)) one.toggleToggle();
  list.receive({ ...cleared, ...query });
}

/** Let the person `user` choose a view of the list, keep the present one, or delete one. */
export function chooseView(list, name, user) {
  const key = `tradewind.views.${user}.${name}`;
  const kept = JSON.parse(localStorage.getItem(key) ?? "{}");
  const save = () => localStorage.setItem(key, JSON.stringify(kept));
  const rows = Object.entries(kept).map(([title, view]) => {
    const row = element("li", {}, button(title, () => { apply(list, view); dialog.remove(); }));
    row.append(button(say("remove"), () => { delete kept[title]; save(); row.remove(); }));
    return row;
  });
  const input = element("input", { name: "name", required: true, maxLength: 50, placeholder: say("name") });
  const form = element("form", {}, input, element("button", { type: "submit", textContent: say("keep") }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    kept[input.value] = present(list);
    save();
    dialog.remove();
  });
  const dialog = dialogue("asked", say("views"), element("ul", {}, ...rows), form, button(say("close"), () => dialog.remove()));
}

/** The value of a column as the list shows it. */
function textOf({ name, map, tpl }, record) {
  const value = name.split(".").reduce((inside, step) => inside?.[step], record);
  if (map && map[value] !== undefined) return map[value];
  return (filters[/\| (\w+)/.exec(tpl)?.[1]] ?? filters.text)(value);
}

/** Open the rows of a list, filtered and sorted as it is, with all columns: they come when reached, and those that are visible are drawn. */
export function openSheet({ props }) {
  const columns = props.columns.filter((one) => one.name);
  const address = props.columns.flatMap((one) => one.buttons ?? []).find((one) => one.actionType === "url")?.url;
  const [path, fixed] = props.api.url.split("?");
  const asked = { ...Object.fromEntries(new URLSearchParams(fixed)), ...props.store.query, perPage: PAGE };
  const pages = new Map(), drawn = new Map();
  let total = 1;
  const row = (cells, role) => element("div", { role: "row" }, ...cells.map((cell) => element("span", { role }, cell)));
  const body = element("div", { role: "rowgroup" });
  const table = element("div", { className: "sheet", role: "table", tabIndex: 0, ariaColCount: columns.length, onscroll: draw },
    row(columns.map((one) => one.label), "columnheader"), body);
  const dialog = dialogue("asked whole", say("rows"), table, button(say("close"), () => dialog.remove()));
  table.style.setProperty("--columns", columns.length);
  draw();

  function draw() {
    const first = Math.max(0, Math.floor(table.scrollTop / ROW_PIXELS) - AROUND);
    const last = Math.min(total, first + Math.ceil(table.clientHeight / ROW_PIXELS) + 2 * AROUND);
    for (const [at, one] of drawn) if (at < first || at >= last) { one.remove(); drawn.delete(at); }
    for (let at = first; at < last; at += 1) {
      const page = Math.floor(at / PAGE), record = pages.get(page)?.[at % PAGE];
      if (!pages.has(page)) load(page);
      if (record && !drawn.has(at)) drawn.set(at, make(record, at));
    }
  }

  function make(record, at) {
    const [first, ...others] = columns.map((one) => textOf(one, record));
    const href = address?.replace("${id}", record.id);
    const link = href ? element("a", { href, textContent: first, onclick: () => dialog.remove() }) : first;
    const made = Object.assign(row([link, ...others], "cell"), { ariaRowIndex: at + 2 });
    made.style.top = `${at * ROW_PIXELS}px`;
    body.append(made);
    return made;
  }

  async function load(page) {
    pages.set(page, []);
    const reply = await ask(path, { ...asked, page: page + 1, with_total: page === 0 });
    if (reply.code !== 0) return tell(reply.msg ?? say("failed"));
    pages.set(page, reply.data.items);
    if (page === 0) {
      total = Math.min(reply.data.total, MOST);
      table.ariaRowCount = total + 1;
      body.style.height = `${total * ROW_PIXELS}px`;
      dialog.firstChild.textContent += total < reply.data.total ? ` (${total} / ${reply.data.total})` : ` (${total})`;
    }
    draw();
  }
}
