// Parts of lists and records that the renderer lacks: links to records, what is folded behind a button, and the filters that are active.

import { describe } from "./conflict.js";
import { call } from "./session.js";
import { textOf } from "./values.js";
import { button, say } from "./words.js";

const orders = new Map(); // the ids of the rows of each list as it was read last, by its path

/** Note in which order a list was read, for the ways to the previous and the next record. */
export const noteRows = (path, rows) => void (rows?.[0]?.id && orders.set(path, rows.map((one) => String(one.id))));

const at = (data, name) => name.split(".").reduce((inside, step) => inside?.[step], data);

/** Register the parts with the renderer; `listOf` returns the list with an id. */
export function registerLists({ Renderer }, { createElement, Component }, listOf) {
  class Reference extends Component {
    render() {
      const { data, pages, by } = this.props, id = at(data, by), text = textOf(this.props, data);
      return id === null || id === undefined ? text : createElement("a", { href: pages + encodeURIComponent(id) }, text);
    }
  }

  class More extends Component {
    render() {
      const { label, body, render, className } = this.props, { opened } = this.state ?? {};
      const parts = opened ? body.map((one, place) => createElement("div", { key: place }, render(`more/${place}`, one))) : null;
      return createElement("details", { className: `more ${className ?? ""}`, onToggle: () => this.setState({ opened: true }) },
        createElement("summary", null, label), createElement("div", null, parts));
    }
  }

  const close = (kept) => { for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = menu === kept; };
  document.addEventListener("click", ({ target }) => close(target.closest?.("summary")?.parentElement));
  document.addEventListener("keydown", ({ key }) => { if (key === "Escape") close(); });

  class Trail extends Component {
    render() {
      const { data, menu, title, list, path, name } = this.props, order = orders.get(path) ?? [], place = order.indexOf(String(data.record_id));
      const link = (to, text) => to && createElement("a", { key: text, href: to }, text);
      const beside = (id, word) => place >= 0 && id && link(`#/records/${list}/${encodeURIComponent(id)}`, say(word));
      return createElement("div", { role: "navigation", className: "trail", "aria-label": say("place") }, link(menu && `#/${menu}`, title), " › ",
        createElement("span", { "aria-current": "page" }, name ? textOf({ name }, data) : ""), createElement("span", { className: "beside" },
          beside(order[place - 1], "before"), beside(order[place + 1], "after")));
    }
  }

  class Counts extends Component {
    async componentDidMount() {
      const { data, lists } = this.props;
      for (const [title, { url }] of Object.entries(lists)) {
        const [path, query = ""] = url.split("?"), fill = (text) => text.replace(/\$\{record_id[^}]*\}/g, encodeURIComponent(data.record_id));
        const reply = await call(`${fill(path)}?${fill(query)}${query && "&"}page_size=1&with_total=true`).catch(() => null);
        const tab = [...document.querySelectorAll("main [class*=Tabs-link]")].find((one) => one.textContent.trim() === title);
        if (tab && reply?.data?.total !== undefined) tab.dataset.count = reply.data.total;
      }
    }

    render() { return null; }
  }

  class Chips extends Component {
    componentDidMount() { this.fill(); }
    componentDidUpdate() { this.fill(); }
    render() { return createElement("div", { className: "chips", ref: (place) => { this.place = place; } }); }

    async fill() {
      const list = listOf(this.props.list), query = list?.props.store.query ?? {}, place = this.place;
      const active = this.props.chosen.map((control) => [control, control.ends ?? [control.name, control.extraName].filter(Boolean)])
        .filter(([, names]) => names.some((name) => !["", undefined, null].includes(query[name])));
      const shown = JSON.stringify(active.map(([, names]) => names.map((name) => query[name])));
      if (shown === this.shown) return;
      this.shown = shown;
      const clear = (names) => list.receive(Object.fromEntries(names.map((name) => [name, ""])));
      const chips = await Promise.all(active.map(async ([control, names]) => {
        const texts = await Promise.all(names.map((name) => query[name] && describe(control, query[name])));
        const text = `${control.label}: ${texts.map((one) => one ?? "").join(names.length > 1 ? " – " : "")}`;
        const chip = button(`${text} ×`, () => clear(names));
        chip.setAttribute("aria-label", `${say("clear")} ${text}`);
        return chip;
      }));
      if (chips.length > 1) chips.push(button(say("clearAll"), () => clear(active.flatMap(([, names]) => names))));
      if (shown === this.shown) place.replaceChildren(...chips);
    }
  }

  for (const [type, part] of Object.entries({ reference: Reference, more: More, chips: Chips, trail: Trail, counts: Counts })) Renderer({ type })(part);
}
