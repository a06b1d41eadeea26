// Parts of pages that the renderer lacks: links to records, what is folded behind a button, and the filters that are active.

import { describe } from "./conflict.js";
import { textOf } from "./values.js";
import { button, say } from "./words.js";

const at = (data, name) => name.split(".").reduce((inside, step) => inside?.[step], data);

/** Register the parts with the renderer; `listOf` returns the list with an id. */
export function registerParts({ Renderer }, { createElement, Component }, listOf) {
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

  for (const [type, part] of Object.entries({ reference: Reference, more: More, chips: Chips })) Renderer({ type })(part);
}
