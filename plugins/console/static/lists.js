// Parts of lists and records that the renderer lacks: links to records, buttons with a menu, what is folded, and the filters that are active.

import { describe } from "./conflict.js";
import { tell } from "./notices.js";
import { call } from "./session.js";
import { isBlank, textOf, valueAt } from "./values.js";
import { button, say } from "./words.js";

const orders = new Map(); // the ids of the rows of each list as it was read last, by its path

/** Note in which order a list was read, for the ways to the previous and the next record. */
export const noteRows = (path, rows) => void (rows?.[0]?.id && orders.set(path, rows.map((one) => String(one.id))));

const PANEL = "/api/v1/console/panels/", FORM = "/api/v1/console/forms/";
let awaited = null; // the path to which the form of a picker is sent, and what then picks the record

/** Pick what a picker's form has made. */
export function pick(path, made) {
  if (awaited?.path !== path || !made?.id) return;
  awaited.take(made.id);
  awaited = null;
}

/** Register the parts with the renderer; `listOf` returns the list with an id. */
export function registerLists({ Renderer, evalExpression, filter }, { createElement, Component }, listOf) {
  class Reference extends Component {
    render() {
      const { data, pages, by } = this.props, id = valueAt(data, by), text = textOf(this.props, data);
      const beside = (event) => { // another record than that of the row opens beside the page, unless its own tab is asked for
        if (by === "id" || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        const body = { type: "service", schemaApi: { method: "get", url: PANEL + pages.split("/")[2] } };
        this.props.onAction(event, { actionType: "drawer", drawer: { title: "${title}", size: "md", closeOnEsc: true, closeOnOutside: true, actions: [], data: { title: text, record_id: id }, body } }, data);
      };
      return id === null || id === undefined ? text : createElement("a", { href: pages + encodeURIComponent(id), onClick: beside }, text);
    }
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

  class Acts extends Component {
    render() {
      const { data, offers, most, label, render } = this.props, sight = [], rest = [];
      const holds = (formula) => formula === "true" || (formula !== "false" && Boolean(evalExpression(`\${${formula}}`, data)));
      offers.forEach(({ button, fits, reason, aside }, place) => {
        const link = { ...button, level: "link" }, draw = (one, more) => render(`act/${place}`, one, { key: place, data, ...more });
        if (holds(fits) && !holds(aside) && (!most || sight.length < most)) sight.push(draw(most ? link : button));
        else if (holds(fits)) rest.push(draw(link));
        else if (reason) rest.push(draw({ ...link, disabled: true }), createElement("span", { key: `why ${place}`, className: "reason" }, filter(reason, data)));
      });
      return createElement("div", { className: "acts" }, sight, rest.length ? menu(label, rest) : null);
    }
  }

  class Maker extends Component { // the button of a picker that makes what can be picked
    render() {
      const { form, label, name, multiple, data } = this.props;
      const make = async (event) => {
        event.persist?.();
        const reply = await call(FORM + form).catch(() => ({}));
        if (reply.code !== 0) { tell(reply.msg ?? say("failed")); return; }
        awaited = { path: reply.data.drawer.body.api.url, take: (id) => this.props.onBulkChange({ [name]: multiple ? [...(data[name] ?? []), id] : id }) };
        this.props.onAction(event, reply.data, {});
      };
      return createElement("button", { type: "button", className: "maker", onClick: make }, label);
    }
  }

  class More extends Component {
    render() {
      const { label, body, render } = this.props, { opened } = this.state ?? {};
      const parts = opened ? body.map((one, place) => createElement("div", { key: place }, render(`more/${place}`, one))) : null;
      return createElement("details", { className: "more", onToggle: () => this.setState({ opened: true }) },
        createElement("summary", null, label), createElement("div", null, parts));
    }
  }

  // what the renderer puts at the head of a picker's choice presses the picker's own button
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[class*=Select-addBtn]")) return;
    event.stopPropagation();
    const picker = document.querySelector("[class*=-Form-item] [class*=-Select].is-opened");
    picker?.closest("[class*=-Form-item]").querySelector(".maker")?.click();
    picker?.click();
  }, true);

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
        .filter(([, names]) => names.some((name) => !isBlank(query[name])));
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

  for (const [type, part] of Object.entries({ reference: Reference, acts: Acts, maker: Maker, more: More, chips: Chips, trail: Trail, counts: Counts })) Renderer({ type })(part);
}
