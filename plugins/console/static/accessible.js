// Adds what the renderer leaves out for people who cannot see the page or use a mouse: names of controls, roles, keys.

import { onTop, say } from "./words.js";

const LINKS = "a:not([href])"; // links that the renderer uses as buttons
const TABLES = ":is(.antd-Table-content, .dark-Table-content):not([tabindex])"; // they are scrolled where a screen is narrow
const NARROW = matchMedia("(max-width: 640px)"); // where rows are cards, whose values need their labels
const CONTROLS = `input:not([type=hidden]), textarea, button, a[href], [role=combobox], [role=button], [role=switch], ${LINKS}`;
const CHOICE = "[class*=PopOver], [class*=-popover]:not([class*=has-popover])", VEIL = "[class*=PopOver-overlay]"; // an open calendar or choice, and what lies around it
const OPENS = ["Enter", " ", "ArrowDown"], CLOSES_MILLISECONDS = 300;
// words for buttons that have only an icon, by a part of its class or name
const ICONS = { close: "close", prev: "previous", next: "next", refresh: "refresh", clear: "clear", columns: "columns", search: "search", pagination: "page" };

function isNamed(control) {
  const by = control.getAttribute("aria-labelledby");
  const named = by && by.split(" ").some((id) => document.getElementById(id)?.textContent.trim());
  return named || control.getAttribute("aria-label") || [...control.labels ?? []].some((one) => one.textContent.trim())
    || (control.matches("button, a, [role=button]") && control.textContent.trim());
}

/** Return the name of a control: the label beside it, its title, its hint, or what its icon stands for. */
function nameOf(control) {
  const item = control.closest(":is(.antd-Form-item, .dark-Form-item)")?.querySelector("[class*=Form-label], label")?.textContent.trim();
  const hint = control.getAttribute("placeholder") || control.querySelector("[placeholder]")?.getAttribute("placeholder");
  const inside = control.firstElementChild;
  const look = `${control.className} ${inside?.getAttribute("class") ?? ""} ${inside?.getAttribute("icon") ?? ""}`.toLowerCase();
  const icon = Object.entries(ICONS).find(([part]) => look.includes(part))?.[1];
  const tip = control.matches(LINKS) && control.dataset.tooltip; // of a button beside a control
  return tip || (item && icon === "clear" ? `${say(icon)} ${item}` : item) || control.title || control.dataset.tooltip || hint || (icon && say(icon)) || control.textContent.trim();
}

/** Give an element a role, and make it reachable with the keyboard. */
function act(part, role) {
  part.setAttribute("role", role);
  if (part.tabIndex < 0 || !part.hasAttribute("tabindex")) part.tabIndex = 0; // that of a link without an address is 0 and means nothing
}

function mend() {
  for (const part of document.querySelectorAll("[role*='-']:not([role^='doc-'])")) part.removeAttribute("role"); // no such roles exist
  for (const tab of document.querySelectorAll(".antd-Tabs-link, .dark-Tabs-link")) {
    act(tab, "tab");
    tab.setAttribute("aria-selected", String(tab.classList.contains("is-active")));
  }
  for (const link of document.querySelectorAll(`${LINKS}:not([role])`)) if (!link.closest("[role=tab]")) act(link, "button");
  for (const link of document.querySelectorAll("[class*=DatePicker-toggler][tabindex='0']")) link.tabIndex = -1; // the field beside it opens the calendar
  for (const part of document.querySelectorAll("[tabindex='1']")) part.tabIndex = 0; // it would come before everything else
  for (const table of document.querySelectorAll(TABLES)) if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  if (NARROW.matches) for (const table of document.querySelectorAll("[class*=-Table-table]")) {
    const heads = [...table.querySelectorAll(":scope > thead > tr:last-child > th")].map((one) => one.textContent.trim());
    for (const row of table.querySelectorAll(":scope > tbody > tr")) [...row.children].forEach((cell, place) => { cell.dataset.label = heads[place] ?? ""; });
  }
  for (const dialog of document.querySelectorAll("[role=dialog]:not([aria-label])")) {
    const title = dialog.querySelector("[class*=Drawer-title], [class*=Modal-title]")?.textContent.trim();
    if (title) dialog.setAttribute("aria-label", title);
  }
  moveFocus();
  for (const control of document.querySelectorAll(CONTROLS)) {
    const name = isNamed(control) ? "" : nameOf(control);
    if (name) control.setAttribute("aria-label", name);
  }
}

const openers = new Map(); // what had the focus when a form or a question was opened, by its box

/** Move the focus into a form or question that has opened, and back to where it was when that has closed. */
function moveFocus() {
  const box = onTop();
  if (box && !openers.has(box)) {
    openers.set(box, document.activeElement);
    box.setAttribute("aria-modal", "true");
    box.tabIndex = -1;
    if (!box.contains(document.activeElement)) box.focus();
  }
  for (const [closed, opener] of openers) if (!closed.isConnected) {
    openers.delete(closed);
    if (document.activeElement === document.body) (opener.checkVisibility() ? opener : onTop() ?? document.getElementById("content"))?.focus();
  }
}

/** Let the tabulator go round in the form or question on top, and the messages above it. */
function holdFocus() {
  document.addEventListener("keydown", (event) => {
    const box = onTop(), { activeElement } = document;
    if (event.key !== "Tab" || event.defaultPrevented || !box || activeElement.closest(`dialog, ${CHOICE}`)) return;
    const parts = [box, document.getElementById("notices")].flatMap((one) => [...one?.querySelectorAll(`${CONTROLS}, [tabindex="0"]`) ?? []])
      .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }));
    const step = event.shiftKey ? -1 : 1, at = parts.indexOf(activeElement), next = at + step;
    const inside = activeElement !== box && box.contains(activeElement) && (at < 0 || box.contains(parts[next]));
    if (inside || !parts.length) return;
    event.preventDefault();
    parts.at(at < 0 && event.shiftKey ? -1 : next % parts.length).focus();
  }, true);
}

/** Close the calendar or the choice that is open when the focus goes on, by the tabulator or a click beside it. */
function closeChoices() {
  const veil = () => [...document.querySelectorAll(VEIL)].at(-1), item = (part) => part?.closest("[class*=-Form-item]");
  let last = null; // what had the focus last outside of choices
  // a picker would take the focus back from the link that clears it
  document.addEventListener("focusin", (event) => { if (event.target.matches("[class*=Select-clear]")) event.stopPropagation(); }, true);
  document.addEventListener("focusin", ({ target }) => {
    if (target.closest(CHOICE) || target.contains(veil() ?? null)) return; // a click in the choice itself
    if (item(last) !== item(target) || !item(target) || target.matches(LINKS)) veil()?.click(); // a link clears the field
    last = target;
  });
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (OPENS.includes(key) && target.matches?.("[class*=-Select][role=combobox]:not([aria-expanded=true])") && !event.defaultPrevented) {
      event.preventDefault();
      target.click();
    }
    // where the focus was before the choice, it is again after it
    if (key === "Enter" && target.closest?.(CHOICE)) setTimeout(() => { if (document.activeElement === document.body) last?.focus(); }, CLOSES_MILLISECONDS);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Tab" || !event.target.closest?.(CHOICE) || !last?.isConnected) return;
    const parts = [...document.querySelectorAll(`${CONTROLS}, [tabindex="0"]`)].filter((one) => one === last || (one.tabIndex >= 0 && one.checkVisibility() && !one.closest(CHOICE) && !last.contains(one)));
    event.preventDefault();
    veil()?.click();
    parts[parts.indexOf(last) + (event.shiftKey ? -1 : 1)]?.focus();
  }, true);
  document.addEventListener("mousedown", ({ target, clientX, clientY }) => { // what is below gets the click that closes a choice
    if (!target.matches?.(VEIL)) return;
    const below = document.elementsFromPoint(clientX, clientY).find((one) => !one.closest(CHOICE))?.closest(`${CONTROLS}, [tabindex="0"]`);
    document.addEventListener("click", () => setTimeout(() => { below?.focus(); below?.click(); }), { once: true, capture: true });
  }, true);
}

/** Start mending everything that is drawn. */
export function mendControls() {
  let waiting = false;
  const soon = () => {
    if (!waiting) requestAnimationFrame(() => { waiting = false; mend(); });
    waiting = true;
  };
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  closeChoices();
  holdFocus();
  // a space belongs to the moment that is typed; the renderer would close its calendar instead
  document.addEventListener("keypress", (event) => { if (event.key === " " && event.target.matches?.("input[class*=DatePicker-input]")) event.stopPropagation(); }, true);
  // a row of a choice of several is ticked wherever it is clicked, not at its box only
  document.addEventListener("click", ({ target }) => { if (target.matches?.("[class*=Select-option], [class*=Select-option-checkbox]")) target.querySelector("input[type=checkbox]")?.click(); });
  document.addEventListener("click", soon); // it may have selected another tab
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches?.(`${LINKS}[role=button], [role=tab]`)) return;
    const picker = event.target.closest("[role=combobox]");
    (event.target.querySelector(LINKS) ?? event.target).click();
    picker?.focus(); // the link that clears it is gone then
  });
}
