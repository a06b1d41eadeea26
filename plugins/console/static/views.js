// Views of a list that a person keeps by name in this browser: filters, search, order and columns.

import { button, dialogue, element, say } from "./words.js";

const OF_PAGES = ["page", "perPage"];

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
