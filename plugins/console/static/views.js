// What the buttons of a list open: saved views, actions with the chosen rows, and a sheet of all rows.

import { ask } from "./api.js";
import { tell } from "./notices.js";
import { call, reasons } from "./session.js";
import { isBlank, textOf } from "./values.js";
import { button, dialogue, element, say } from "./words.js";

const VIEWS = "/api/v1/meta/views";
const OF_PAGES = ["page", "perPage"], ROW_PIXELS = 28, COLUMN_PIXELS = 150, PAGE = 200, AROUND = 8, BESIDE = 2, MOST = 10_000; // of the sheet; MOST is the number of rows up to which the API supports page numbers

/** Return the columns of a list that can be switched on and off. */
const columnsOf = (list) => [...(list.control?.props.store.toggableColumns ?? [])];

/** Return the field that a column shows, of which its `name` may be the name beside a reference. */
const fieldOf = (column) => column.pristine.of;

function present(list) {
  const { orderBy, orderDir, ...asked } = list.props.store.query;
  const filters = Object.fromEntries(Object.entries(asked).filter(([name, value]) => !OF_PAGES.includes(name) && !name.startsWith("_") && !isBlank(value)));
  return { filters, sort: orderBy ? `${orderDir === "desc" ? "-" : ""}${orderBy}` : null, columns: columnsOf(list).filter((one) => one.toggled).map(fieldOf).filter(Boolean) };
}

function apply(list, { filters, sort, columns }) {
  const cleared = Object.fromEntries(Object.keys(present(list).filters).map((name) => [name, ""]));
  const order = sort ? { orderBy: sort.replace(/^-/, ""), orderDir: sort.startsWith("-") ? "desc" : "asc" } : {};
  for (const one of columnsOf(list)) if (columns && fieldOf(one) && one.toggled !== columns.includes(fieldOf(one))) one.toggleToggle();
  list.receive({ ...cleared, ...filters, ...order });
}

/** Let the person `user` choose a saved view of the list, save the present one for themselves or others, or delete one. */
export async function chooseView(list, name, user) {
  const path = list.props.api.url.split("?")[0], found = await call(VIEWS, { query: { list: path, page_size: 100 } });
  const department = (await call("/api/v1/auth/profile")).data?.user.department?.id, views = found.data?.items ?? [];
  const mine = (view) => view.creator_id === user;
  const done = async (request) => { const reply = await request; if (reply.code !== 0) tell(reasons(reply)); return reply.code === 0; };
  const rows = views.map((view) => {
    const title = mine(view) ? view.name : `${view.name} (${view.creator_name})`;
    const row = element("li", {}, button(title, () => { apply(list, view); dialog.close(); }));
    if (mine(view)) row.append(button(say("remove"), async () => { if (await done(call(`${VIEWS}/${view.id}`, { method: "DELETE" }))) row.remove(); }));
    return row;
  });
  const input = element("input", { name: "name", required: true, maxLength: 50, placeholder: say("name"), "aria-label": say("name") });
  const choices = ["onlyMe", ...(department ? ["department"] : []), "everybody"].map((one) => element("option", { value: one, textContent: say(one) }));
  const audience = element("select", { "aria-label": say("shared") }, ...choices);
  const form = element("form", {}, input, audience, element("button", { type: "submit", textContent: say("keep") }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const known = views.find((view) => mine(view) && view.name === input.value);
    const shared = { onlyMe: null, department: { departments: [department] }, everybody: { all: true } }[audience.value];
    const body = { ...present(list), name: input.value, shared_with: shared, ...known ? { version: known.version } : { list: path } };
    if (await done(call(known ? `${VIEWS}/${known.id}` : VIEWS, { method: known ? "PATCH" : "POST", body }))) dialog.close();
  });
  const dialog = dialogue("asked", say("views"), element("ul", {}, ...rows), form, button(say("close"), () => dialog.close()));
}

/** Take an action with every chosen row, one after the other, and say what became of each. */
export function actOnRows(list, name, user, place) {
  const { label, told, request: { method, url, data } } = list.props.bulkActions[place], shown = list.props.columns.filter((one) => one.name).filter((one, at) => at === 0 || told.includes(one.of));
  const rows = list.props.store.selectedItems.map((record) => [record, element("li", { textContent: shown.map((one) => textOf(one, record)).join(" · ") })]);
  const act = button(label, async () => {
    act.disabled = true;
    let failed = 0;
    for (const [record, row] of rows) {
      const path = url.replace(/\$\{(\w+)[^}]*\}/g, (_, field) => encodeURIComponent(record[field]));
      const body = method === "delete" ? undefined : data.version ? { version: record.version } : {};
      const reply = await call(path, { method: method.toUpperCase(), body });
      failed += reply.code !== 0;
      row.append(element("b", { className: reply.code === 0 ? "" : "complaint", textContent: ` ${reply.code === 0 ? "✓" : reply.msg}` }));
    }
    act.replaceWith(element("p", { role: "status", textContent: say("report", { done: rows.length - failed, failed }) }));
    list.receive({});
  });
  if (method === "delete") act.className = "danger";
  const dialog = dialogue("asked", `${label} (${rows.length})`, element("ul", {}, ...rows.map(([, row]) => row)), act, button(say("close"), () => dialog.close()));
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
  const dialog = dialogue("asked whole", say("rows"), table, button(say("close"), () => dialog.close()));
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
    if (left === 0 && href) cells[0] = element("a", { href, textContent: cells[0], onclick: () => dialog.close() });
    const style = `transform: translate(${left * COLUMN_PIXELS}px, ${at * ROW_PIXELS}px)`;
    return body.appendChild(row(cells, "cell", { ariaRowIndex: at + 2, style }));
  }

  async function load(page) { // one page at a time; a page that has been scrolled past by then is not requested
    if (busy) return;
    busy = true;
    const reply = await ask(path, { ...asked, page: page + 1, with_total: page === 0 });
    busy = false;
    pages.set(page, reply.data?.items ?? []);
    if (reply.code !== 0) return tell(reply.msg);
    if (page === 0) {
      total = Math.min(reply.data.total, MOST);
      table.ariaRowCount = total + 1;
      body.style.height = `${total * ROW_PIXELS}px`;
      dialog.firstChild.textContent += total < reply.data.total ? ` (${total} / ${reply.data.total})` : ` (${total})`;
    }
    draw();
  }
}
