// What is typed into a form is not lost: a reload restores it, and whoever closes the form with changes is asked first.

import { button, element, say } from "./words.js";

const PREFIX = "tradewind.draft:", WAIT_MILLISECONDS = 300, BEGUN_MILLISECONDS = 200;
const BOX = ":is([class*=Drawer-content], [class*=Modal-content])";

const over = new Set(); // the paths of forms that were sent or dropped, and are closing

/** Forget the draft of what has been sent to this path. */
export function forget(path) {
  over.add(path);
  sessionStorage.removeItem(PREFIX + path);
}

/** The draft of a form that makes a record; it is kept in the tab until it is sent or dropped, or the person logs out. */
export function draft(place, properties) {
  const { path, names } = properties(), key = PREFIX + path, kept = sessionStorage.getItem(key);
  const entered = () => JSON.stringify(Object.fromEntries(names.map((name) => [name, properties().data[name]])));
  let began = null, waiting = 0;
  over.delete(path);
  place.dataset.draft = path;
  const restore = () => {
    began = entered();
    if (!kept || !place.isConnected) return;
    const drop = button(say("dropDraft"), () => {
      properties().onBulkChange(Object.fromEntries(names.map((name) => [name, JSON.parse(began)[name] ?? null])));
      place.replaceChildren();
    });
    place.replaceChildren(element("span", { role: "status", textContent: say("restored") }), drop);
    properties().onBulkChange(JSON.parse(kept));
  };
  const keep = () => {
    if (over.has(path) || began === null || !place.isConnected) return;
    if (entered() === began) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, entered());
  };
  setTimeout(restore, BEGUN_MILLISECONDS); // the controls put in their defaults first
  return {
    update() {
      clearTimeout(waiting);
      waiting = setTimeout(keep, WAIT_MILLISECONDS);
    },
    end: () => clearTimeout(waiting),
  };
}

/** Ask before a form that somebody has typed into is closed, or the page is left. */
export function askBeforeClosing() {
  const typed = new Set();
  const left = (event, box) => {
    if (!typed.has(box)) return;
    if (!window.confirm(say("discard"))) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    typed.delete(box);
    const path = box.querySelector("[data-draft]")?.dataset.draft;
    if (path) forget(path);
  };
  document.addEventListener("input", (event) => {
    const box = event.target.closest(BOX);
    if (box?.querySelector("[class*=-footer] [class*=Button--primary], [class*=footer] button")) typed.add(box);
  }, true);
  document.addEventListener("click", (event) => {
    const closes = event.target.closest?.(":is([class*=Drawer-close], [class*=Modal-close], [class*=Drawer-footer] [class*=Button--default], [class*=Modal-footer] [class*=Button--default])");
    if (closes) left(event, closes.closest(BOX));
  }, true);
  document.addEventListener("keydown", (event) => {
    const box = [...document.querySelectorAll(BOX)].at(-1);
    if (event.key === "Escape" && box && !document.querySelector("[aria-expanded=true], dialog[open]")) left(event, box);
  }, true);
  addEventListener("beforeunload", (event) => { if ([...typed].some((box) => box.isConnected && !box.querySelector("[data-draft]"))) event.preventDefault(); });
}
