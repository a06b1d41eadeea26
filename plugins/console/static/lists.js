// Parts of lists and records that the renderer lacks: links to records, buttons with a menu, what is folded, and the filters that are active.

import { describe } from "./conflict.js";
import { tell } from "./notices.js";
import { call } from "./session.js";
import { isBlank, textOf, valueAt } from "./values.js";
import { button, onTop, say } from "./words.js";

const orders = new Map(); // the ids of the rows of each list as it was read last, by its path

/** Note in which order a list was read, for the ways to the previous and the next record. */
export const noteRows = (path, rows) => void (rows?.[0]?.id && orders.set(path, rows.map((one) => String(one.id))));

const PANEL = "/api/v1/console/panels/", FORM = "/api/v1/console/forms/";
let awaited = null; // the path to which the form of a picker is sent, and what then picks the record

/** Pick what a picker's form has made, once that form is closed: its requests end with it. */
export function pick(path, made) {
  if (awaited?.path !== path || !made?.id) return;
  const { take } = awaited, form = onTop();
  const wait = () => (form?.isConnected ? requestAnimationFrame(wait) : take(made.id));
  awaited = null;
  wait();
}

/** Register the parts with the renderer; `isReading` returns whether a list of the page is reading its rows. */
export function registerLists({ Renderer, evalExpression, filter }, { createElement, useState }, isReading) {
  /** The value of a field as a link to the record that it names. */
  function reference(properties) {
    const { data, pages, by, onAction } = properties, id = valueAt(data, by), text = textOf(properties, data);
    const beside = (event) => { // another record than that of the row opens beside the page, unless its own tab is asked for
      if (by === "id" || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const body = { type: "service", schemaApi: { method: "get", url: PANEL + pages.split("/")[2] } };
      onAction(event, { actionType: "drawer", drawer: { title: "${title}", size: "md", closeOnEsc: true, closeOnOutside: true, actions: [], data: { title: text, record_id: id }, body } }, data);
    };
    return id === null || id === undefined ? text : createElement("a", { href: pages + encodeURIComponent(id), onClick: beside }, text);
  }

  /** A button below which a menu opens, above everything else. */
  const menu = (label, parts) => {
    const open = ({ currentTarget }) => {
      const { bottom, left } = currentTarget.getBoundingClientRect(), shown = currentTarget.nextSibling;
      shown.showPopover();
      shown.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - shown.offsetHeight - 8))}px`;
      shown.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - shown.offsetWidth - 8))}px`;
    };
    return [createElement("button", { key: "opens", type: "button", className: "opens", "aria-haspopup": "true", onClick: open }, label),
      createElement("div", { key: "menu", className: "menu-of", popover: "auto", onClick: ({ currentTarget }) => currentTarget.hidePopover() }, parts)];
  };

  /** The buttons of a record: those that fit, and a menu with the others and their reasons. */
  function acts({ data, offers, most, label, render }) {
    const sight = [], rest = [];
    const holds = (formula) => formula === "true" || (formula !== "false" && Boolean(evalExpression(`\${${formula}}`, data)));
    offers.forEach(({ button, fits, reason, aside }, place) => {
      const link = { ...button, level: "link" }, draw = (one, more) => render(`act/${place}`, one, { key: place, data, ...more });
      if (holds(fits) && !holds(aside) && (!most || sight.length < most)) sight.push(draw(most ? link : button));
      else if (holds(fits)) rest.push(draw(link));
      else if (reason) rest.push(draw({ ...link, disabled: true }), createElement("span", { key: `why ${place}`, className: "reason" }, filter(reason, data)));
    });
    return createElement("div", { className: "acts" }, sight, rest.length ? menu(label, rest) : null);
  }

  /** The button of a picker that makes what can be picked. */
  function maker({ form, label, name, multiple, data, onBulkChange, onAction }) {
    const make = async (event) => {
      event.persist?.();
      const reply = await call(FORM + form);
      if (reply.code !== 0) { tell(reply.msg); return; }
      awaited = { path: reply.data.drawer.body.api.url, take: (id) => onBulkChange({ [name]: multiple ? [...(data[name] ?? []), id] : id }) };
      onAction(event, reply.data, {});
    };
    return createElement("button", { type: "button", className: "maker", onClick: make }, label);
  }

  /** What is folded; it is drawn when it is first opened. */
  function more({ label, body, render }) {
    const [opened, open] = useState(false);
    const parts = opened ? body.map((one, place) => createElement("div", { key: place }, render(`more/${place}`, one))) : null;
    return createElement("details", { className: "more", onToggle: () => open(true) }, createElement("summary", null, label), createElement("div", null, parts));
  }

  // what the renderer puts at the head of a picker's choice presses the picker's own button
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[class*=Select-addBtn]")) return;
    event.stopPropagation();
    const picker = document.querySelector("[class*=-Form-item] [class*=-Select].is-opened");
    picker?.closest("[class*=-Form-item]").querySelector(".maker")?.click();
    picker?.click();
  }, true);

  // the renderer drops what is pressed above a list while rows are read: it is pressed again once they are there
  document.addEventListener("click", (event) => {
    const pressed = event.target.closest?.("[class*=-Crud-toolbar] button");
    if (!pressed || !isReading()) return;
    event.stopPropagation();
    const wait = () => (isReading() ? requestAnimationFrame(wait) : pressed.isConnected && pressed.click());
    wait();
  }, true);

  /** Where the record is: its list, and its neighbours in the list that was read last. */
  function trail({ data, menu: code, title, list, path, name }) {
    const order = orders.get(path) ?? [], place = order.indexOf(String(data.record_id));
    const link = (to, text) => to && createElement("a", { key: text, href: to }, text);
    const beside = (id, word) => place >= 0 && id && link(`#/records/${list}/${encodeURIComponent(id)}`, say(word));
    return createElement("div", { role: "navigation", className: "trail", "aria-label": say("place") }, link(code && `#/${code}`, title), " › ",
      createElement("span", { "aria-current": "page" }, isBlank(valueAt(data, name)) ? title : textOf({ name }, data)),
      createElement("span", { className: "beside" }, beside(order[place - 1], "before"), beside(order[place + 1], "after")));
  }

  for (const [type, part] of Object.entries({ reference, acts, maker, more, trail })) Renderer({ type })(part);
}

/** The number of records in each list of a record, beside the title of its tab; counted anew once the record or such a list has changed. */
export function counts(_, properties) {
  let begun = false, counted;
  const addressed = (text) => text.replace(/\$\{record_id[^}]*\}/g, encodeURIComponent(properties().data.record_id));
  const count = async () => {
    for (const [title, { url }] of Object.entries(properties().lists)) {
      const [path, query = ""] = addressed(url.replace(/[?&]sum=[^&]*$/, "")).split("?");
      const reply = await call(`${path}?${query}${query && "&"}page_size=1&with_total=true`);
      const tab = [...document.querySelectorAll("main [class*=Tabs-link]")].find((one) => one.textContent.trim() === title);
      if (tab && reply.data?.total !== undefined) tab.dataset.count = reply.data.total;
    }
  };
  const follow = ({ detail: path }) => {
    const { data, lists } = properties(), isIn = ({ url }) => path.startsWith(addressed(url.split("?")[0]));
    if (!path.endsWith(`/${data.record_id}`) && Object.values(lists).some(isIn)) count();
  };
  addEventListener("written", follow);
  return {
    update({ data: { version } }) {
      const changed = counted !== undefined && version !== counted;
      counted = version ?? counted;
      if (!begun || changed) count();
      begun = true;
    },
    end: () => removeEventListener("written", follow),
  };
}

/** The active filters of a list, each with a button that takes it away; `listOf` returns the list with an id. */
export const chips = (listOf) => (place, properties) => {
  let shown = "";
  const fill = async () => {
    const list = listOf(properties().list), query = list?.props.store.query ?? {};
    const active = properties().chosen.map((control) => [control, control.ends ?? [control.name, control.extraName].filter(Boolean)])
      .filter(([, names]) => names.some((name) => !isBlank(query[name])));
    const now = JSON.stringify(active.map(([, names]) => names.map((name) => query[name])));
    if (now === shown) return;
    shown = now;
    const clear = (names) => list.receive(Object.fromEntries(names.map((name) => [name, ""])));
    const made = await Promise.all(active.map(async ([control, names]) => {
      const texts = await Promise.all(names.map((name) => query[name] && describe(control, query[name])));
      const text = `${control.label}: ${texts.map((one) => one ?? "").join(names.length > 1 ? " – " : "")}`;
      const chip = button(`${text} ×`, () => clear(names));
      chip.setAttribute("aria-label", `${say("clear")} ${text}`);
      return chip;
    }));
    if (made.length > 1) made.push(button(say("clearAll"), () => clear(active.flatMap(([, names]) => names))));
    if (now === shown) place.replaceChildren(...made);
  };
  return { update: fill };
};
