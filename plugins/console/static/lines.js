// Tables of lines in a form: Enter goes from cell to cell, and the amounts are those that the server counts.

import { call } from "./session.js";
import { filters, isBlank, isNumber, partOf, percentOf } from "./values.js";
import { button, element, say } from "./words.js";

const WAIT_MILLISECONDS = 300, CLOSES_MILLISECONDS = 50, TAKEN_MILLISECONDS = 700;
const FORM = "form, [class*=Form]:not([class*=Form-item])", ASIDE = ".cell.aside"; // cells that are shown when they are asked for, or filled
const CELLS = ".cell :is(input, textarea, [role=combobox], [class*=ResultBox])";

/** The cell of a line that shows its amount; `totals` fills it. */
export const counted = () => undefined;

/** The control of a part of a whole, which is typed in percent: 13 for 0.13. */
export function percent(place, properties) {
  const { name, label } = properties(), input = element("input", { type: "text", name, inputMode: "decimal", autocomplete: "off", ariaLabel: label });
  input.addEventListener("input", () => properties().onChange(partOf(input.value)));
  place.replaceChildren(input, element("span", { textContent: "%" }));
  return { update: ({ value }) => { if (document.activeElement !== input && partOf(input.value) !== value) input.value = percentOf(value); } };
}

/** The amounts of the record whose lines are entered. */
export function totals(place, properties) {
  let asked = "", waiting = 0;
  const rows = () => [...place.closest(FORM).querySelectorAll(".lines [class*=Combo-item]:has(> [class*=Combo-itemInner])")];
  const table = () => place.closest(FORM).querySelector(".lines"), more = button(say("moreCells"), () => table().classList.toggle("extended"));
  const show = (values) => place.replaceChildren(...(table()?.querySelector(ASIDE) ? [more] : []), ...values.map(([label, value]) => element("span", {}, `${label} `, element("b", { textContent: filters.amount(value) }))));
  const extend = () => { if ([...table()?.querySelectorAll(`${ASIDE} :is(input, textarea)`) ?? []].some((cell) => cell.value)) table().classList.add("extended"); };
  const sums = ({ data, lines, sums: columns }) => {
    extend();
    const given = (name) => (data[lines] ?? []).filter((line) => isNumber(line?.[name]));
    show(Object.entries(columns).map(([name, label]) => [label, filters.total([...given(name), { [name]: "0.00" }], name)]));
  };
  /** Show what the server has counted of these lines; what it proposes for an empty cell is the cell's hint. */
  const present = ({ lines, cell, figures }, reply, places) => {
    const shown = rows(), counts = new Map(places.map((at, number) => [at, reply?.[lines]?.[number] ?? {}]));
    shown.forEach((row, at) => {
      const line = counts.get(at) ?? {}, own = row.querySelector(".counted");
      if (own) own.textContent = line[cell] && Number(line.quantity) ? filters.amount(line[cell]) : "";
      for (const input of row.querySelectorAll("[data-role]:not(.is-required) input[name]")) input.placeholder = (input.closest(".percent") ? percentOf : String)(line[input.name] ?? "");
    });
    show(Object.entries(figures).map(([name, label]) => [label, reply?.[name] ?? "0.00"]));
  };
  const ask = async () => {
    const given = properties(), body = {}, { lines, sent, count } = given;
    if (!more.isConnected && table()?.querySelector(ASIDE)) place.prepend(more);
    extend();
    for (const name of sent) if (!isBlank(given.data[name])) body[name] = given.data[name];
    const entered = (given.data[lines] ?? []).map((line, at) => [line, at]).filter(([line]) => line && Object.entries(line).some(([name, value]) => (name.endsWith("_id") || name === "description") && value));
    const names = given.asked;
    body[lines] = entered.map(([line]) => Object.fromEntries(Object.entries(line).filter(([name, value]) => names.includes(name) && !isBlank(value))));
    const text = JSON.stringify(body);
    if (text === asked) return;
    asked = text;
    const reply = entered.length ? await call(count, { method: "POST", body }) : { code: 0, data: {} };
    if (asked === text && place.isConnected) present(given, reply.code === 0 ? reply.data : null, entered.map(([, at]) => at));
  };
  return {
    update(given) {
      if (given.sums) return sums(given);
      clearTimeout(waiting);
      waiting = setTimeout(ask, WAIT_MILLISECONDS);
      return undefined;
    },
    end: () => clearTimeout(waiting),
  };
}

/** Focus the cell of a table after this element, or the first of a new line after the last one. */
function goOn(lines, from) {
  const cells = () => [...lines.querySelectorAll(CELLS)].filter((cell) => cell.tabIndex >= 0 && cell.offsetParent);
  const next = cells().find((cell) => from.compareDocumentPosition(cell) === Node.DOCUMENT_POSITION_FOLLOWING);
  if (next) return next.focus();
  const before = cells().length;
  lines.querySelector("[class*=Combo-addBtn]")?.click();
  requestAnimationFrame(() => cells()[before]?.focus());
  return undefined;
}

/** Go on once the choice of a picker has closed, which takes the focus with it. */
function goOnAfter(lines, picker) {
  const closed = picker.ariaExpanded !== "true" && !picker.querySelector("[class*=Select-placeholder]");
  if (closed && [document.body, picker].includes(document.activeElement)) goOn(lines, picker);
  else if (picker.isConnected) setTimeout(goOnAfter, CLOSES_MILLISECONDS, lines, picker);
}

/** Open the choice of a picker, once it has loaded what can be chosen. */
function openChoice(picker) {
  if (!picker.matches("[class*=is-disabled]")) picker.click();
  else if (picker.isConnected) setTimeout(openChoice, CLOSES_MILLISECONDS, picker);
}

/** Let Enter in a line go to the next cell, and from the last one to a new line; in an empty picker it opens the choice. */
export function enterMoves() {
  let opened = null;
  document.addEventListener("click", ({ target }) => { // a new line gets the focus
    const lines = target.closest?.("[class*=Combo-addBtn]")?.closest(".lines"), last = lines && [...lines.querySelectorAll(CELLS)].at(-1);
    if (lines) requestAnimationFrame(() => [...lines.querySelectorAll(CELLS)].find((one) => !last || last.compareDocumentPosition(one) === Node.DOCUMENT_POSITION_FOLLOWING)?.focus());
  }, true);
  document.addEventListener("keydown", (event) => {
    const { key, target } = event, lines = target.closest?.(".lines");
    if (key !== "Enter" || event.isComposing) return;
    if (opened && target.getAttribute("aria-activedescendant")) goOnAfter(...opened);
    if (!lines || !target.closest(".cell") || target.matches("textarea, [aria-autocomplete]")) return;
    event.preventDefault();
    event.stopPropagation();
    if (target.querySelector("[class*=Select-placeholder]")) {
      opened = [lines, target];
      openChoice(target);
    } else goOn(lines, target);
  }, true);
}

/** Hold a confirmation back until the renderer, which takes over what is typed with a delay, has all of it. */
export function confirmsWait() {
  let typed = -Infinity, released = null;
  document.addEventListener("input", () => { typed = performance.now(); }, true);
  document.addEventListener("click", ({ target }) => { if (target.closest?.("[class*=Select-option]")) typed = performance.now(); }, true);
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(":is([class*=Drawer-footer], [class*=Modal-footer]) button, [class*=-Form] [type=submit]"); // the latter by Enter
    const left = typed + TAKEN_MILLISECONDS - performance.now();
    if (!button || button === released || left <= 0) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => { released = button; button.click(); released = null; }, left);
  }, true);
}
