// The search over pages and records: opened with Ctrl-K, ⌘-K or `/`, and worked with the keyboard.

import { HOME, kept, menuAt, pages, placeOf, titleOf } from "./places.js";
import { call } from "./session.js";
import { dialogue, element, icon, say } from "./words.js";

const PAUSE_MILLISECONDS = 200, MOST = 20, MOST_PAGES = 8;

let records = ""; // the path of the search over records

const recent = () => kept.recent.map((one) => ({ ...one, title: titleOf(one), hint: say("recent"), icon: pages.get(one.at)?.icon ?? "history" }));

/** Return the pages whose titles contain every word. */
function pagesLike(words) {
  const has = (one) => words.every((word) => `${one.title} ${one.group}`.toLowerCase().includes(word));
  return [...pages].filter(([, one]) => has(one)).slice(0, MOST_PAGES).map(([at, one]) => ({ at, title: one.title, hint: one.group, icon: one.icon }));
}

/** Return the records that the API finds, which have a page in the console; none if there is no such search. */
async function recordsLike(text) {
  const reply = records && await call(records, { query: { q: text, page_size: MOST } });
  const found = reply.code === 0 ? reply.data : [];
  const shown = found.map((one) => ({ at: placeOf(one.path), title: one.name, hint: [one.kind_name, one.hint].filter(Boolean).join(" · ") }));
  return shown.filter((one) => one.at).map((one) => ({ ...one, icon: menuAt(one.at)?.icon }));
}

/** Open the search. */
export function openFinder() {
  if (document.querySelector("dialog[open]")) return;
  let chosen = 0, shown = [], waiting = 0;
  const list = element("ul", { id: "found", role: "listbox", ariaLabel: say("find") });
  const input = element("input", {
    type: "search", role: "combobox", ariaExpanded: "true", ariaLabel: say("find"), placeholder: say("find"), autocomplete: "off", maxLength: 100, "aria-controls": "found",
  });
  const dialog = dialogue("asked finder", say("find"), input, list);
  const go = (one) => { dialog.close(); location.hash = one.at; };

  function choose(place) {
    chosen = Math.max(0, Math.min(place, shown.length - 1));
    for (const [at, one] of [...list.children].entries()) one.ariaSelected = String(at === chosen && shown.length > 0);
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", list.children[chosen]?.id ?? "");
  }

  function show(found) {
    shown = found;
    const rows = found.map((one, at) => element("li", { id: `found-${at}`, role: "option", onclick: () => go(one) },
      icon(one.icon, one.title), element("span", { textContent: one.title }), element("small", { textContent: one.hint })));
    list.replaceChildren(...rows.length ? rows : [element("li", { role: "option", ariaDisabled: "true", className: "none", textContent: say("none") })]);
    choose(0);
  }

  function search() {
    const text = input.value.trim(), near = pagesLike(text.toLowerCase().split(/\s+/));
    clearTimeout(waiting);
    show(text ? near : [...recent(), ...kept.recent.length ? [] : [...pages].filter(([at]) => at !== HOME).slice(0, MOST_PAGES).map(([at, one]) => ({ at, hint: one.group, ...one }))]);
    if (text) waiting = setTimeout(async () => {
      const found = await recordsLike(text);
      if (dialog.isConnected && input.value.trim() === text) show([...near, ...found]);
    }, PAUSE_MILLISECONDS);
  }

  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) choose(chosen + step);
    if (event.key === "Enter" && !event.isComposing && shown[chosen]) go(shown[chosen]);
    if (step || event.key === "Enter") event.preventDefault();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  search();
  input.focus();
}

/** Open the search with its keys; `path` is the one of the search over records, if there is one. */
export function listenForKeys(path) {
  records = path;
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable=true]");
    const asked = ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") || (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey);
    if (!asked) return;
    event.preventDefault();
    openFinder();
  });
}
