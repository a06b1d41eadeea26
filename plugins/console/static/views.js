// What the buttons of a list open: views that a person keeps in this browser, and a sheet of all rows.

import { ask } from "./api.js";
import { tell } from "./notices.js";
import { textOf } from "./values.js";
import { button, dialogue, element, say } from "./words.js";

const OF_PAGES = ["page", "perPage"], ROW_PIXELS = 28, COLUMN_PIXELS = 150, PAGE = 200, AROUND = 8, BESIDE = 2, MOST = 10_000; // of the sheet; MOST is the number of rows up to which the API supports page numbers

/** Return the columns of a list that can be switched on and off. */
const columnsOf = (list) => [...(list.control?.props.store.toggableColumns ?? [])];

function present(list) {
  const asked = Object.entries(list.props.store.query).filter(([name]) => !OF_PAGES.includes(name));
  return { query: Object.fromEntries(asked), columns: columnsOf(list).filter((one) => one.toggled).map((one) => one.name) };
}

function apply(list, { query, columns }) {
  const cleared = Object.fromEntries(Object.keys(present(list).query).map((name) => [name, ""]));
  for (const one of columnsOf(list)) if (one.toggled !== columns.includes(one.name)) one.toggleToggle();
  list.receive({ ...cleared, ...query });
}

/** Let the person `user` choose a saved view of the list, save the present one, or delete one. */
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

/** Open all rows of a list with all columns, in its filters and order; rows load on scrolling, and only visible cells are drawn. */
export function openSheet({ props }) {
  const columns = props.columns.filter((one) => one.name);
  const { pages: address } = props.columns.find((one) => one.by === "id") ?? {};
  const [path, fixed] = props.api.url.split("?");
  const asked = { ...Object.fromEntries(new URLSearchParams(fixed)), ...props.store.query, perPage: PAGE };
  const pages = new Map(), drawn = new Map();
  let total = 1, busy = false, left = 0, right = 0;
  const row = (cells, role, more) => element("div", { role: "row", ...more }, ...cells.map((one, at) => element("span", { role, ariaColIndex: left + at + 1 }, one)));
  const body = element("div", { role: "rowgroup" });
  const table = element("div", { className: "sheet", role: "table", tabIndex: 0, ariaColCount: columns.length, onscroll: draw },
    row(columns.map((one) => one.label), "columnheader"), body);
  const dialog = dialogue("asked whole", say("rows"), table, button(say("close"), () => dialog.remove()));
  draw();

  function draw() {
    const first = Math.max(0, Math.floor(table.scrollTop / ROW_PIXELS) - AROUND);
    const last = Math.min(total, first + Math.ceil(table.clientHeight / ROW_PIXELS) + 2 * AROUND);
    const from = Math.max(0, Math.floor(table.scrollLeft / COLUMN_PIXELS) - BESIDE), aside = from !== left;
    [left, right] = [from, from + Math.ceil(table.clientWidth / COLUMN_PIXELS) + 2 * BESIDE];
    for (const [at, one] of drawn) if (aside || at < first || at >= last) { one.remove(); drawn.delete(at); }
    for (let at = first; at < last; at += 1) {
      const page = Math.floor(at / PAGE), record = pages.get(page)?.[at % PAGE];
      if (!pages.has(page)) load(page);
      if (record && !drawn.has(at)) drawn.set(at, make(record, at));
    }
  }

  function make(record, at) {
    const cells = columns.slice(left, right).map((one) => textOf(one, record)), href = address && address + record.id;
    if (left === 0 && href) cells[0] = element("a", { href, textContent: cells[0], onclick: () => dialog.remove() });
    const style = `transform: translate(${left * COLUMN_PIXELS}px, ${at * ROW_PIXELS}px)`;
    return body.appendChild(row(cells, "cell", { ariaRowIndex: at + 2, style }));
  }

  async function load(page) { // one page at a time; a page that has been scrolled past by then is not requested
    if (busy) return;
    busy = true;
    const reply = await ask(path, { ...asked, page: page + 1, with_total: page === 0 }).catch(() => ({}));
    busy = false;
    pages.set(page, reply.data?.items ?? []);
    if (reply.code !== 0) return tell(reply.msg ?? say("failed"));
    if (page === 0) {
      total = Math.min(reply.data.total, MOST);
      table.ariaRowCount = total + 1;
      body.style.height = `${total * ROW_PIXELS}px`;
      dialog.firstChild.textContent += total < reply.data.total ? ` (${total} / ${reply.data.total})` : ` (${total})`;
    }
    draw();
  }
}
