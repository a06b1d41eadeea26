// The frame around the pages: the header, the menu, the tabs of open pages, and the bar at the foot of a phone.

import { openFinder } from "./finder.js";
import { inbox } from "./inbox.js";
import { HOME, isStarred, keep, kept, menuAt, pages, star, titleOf, visit } from "./places.js";
import { base } from "./session.js";
import { element, icon, iconButton, panel, say } from "./words.js";

const MOST_TABS = 10, PHONE = matchMedia("(max-width: 760px)");
const root = document.getElementById("console");
let tabs = [], key = "", current = "", forget = () => undefined;

const link = (at, { title, icon: name }, more = {}) => element("a", { href: at, title, ...more }, icon(name, title), element("span", { textContent: title }));

/** Return a part of the menu that is folded as the person left it. */
function group(code, title, name, ...items) {
  const summary = element("summary", { title }, icon(name, title), element("span", { textContent: title }));
  const folded = element("details", { open: kept.open[code] ?? false, "data-group": code }, summary, element("ul", {}, ...items));
  summary.addEventListener("click", (event) => {
    const narrow = !PHONE.matches && kept.folded; // only the icons are shown: show the group
    if (narrow) { event.preventDefault(); folded.open = true; fold(false); }
    keep({ open: { ...kept.open, [code]: narrow || !folded.open } });
  });
  return element("li", {}, folded);
}

function entry(menu) {
  const { meta, code } = menu, children = menu.children.filter((child) => !child.meta.hideInMenu);
  if (menu.type === "link") return element("li", {}, link(meta.link ?? "#", meta, { target: "_blank", rel: "noopener" }));
  if (menu.type === "directory" || children.length) return group(code, meta.title, meta.icon, ...children.map(entry));
  return element("li", {}, link(`#/${code}`, meta, { "data-menu": code }));
}

/** Return the menu: a field to filter it, the pages that the person starred or visited, and the tree. */
function navigation(menus) {
  const filter = element("input", { type: "search", placeholder: say("findMenu"), ariaLabel: say("findMenu") });
  const own = element("ul", { className: "own" });
  const list = element("ul", {}, element("li", {}, link(HOME, pages.get(HOME))), ...menus.filter((menu) => !menu.meta.hideInMenu).map(entry));
  const nav = element("nav", { id: "menu", className: "menu", ariaLabel: say("menu") }, filter, own, list);
  filter.addEventListener("input", () => narrow(list, own, filter.value.trim().toLowerCase()));
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && filter.value) [...list.querySelectorAll("a")].find((one) => one.checkVisibility())?.click();
  });
  return nav;
}

/** Show only the entries of the menu that contain the text, with the groups around them; without text, all as they were. */
function narrow(list, own, text) {
  own.hidden = Boolean(text);
  for (const item of [...list.querySelectorAll("li")].reverse()) {
    const folded = item.querySelector(":scope > details");
    const named = item.querySelector("span").textContent.toLowerCase().includes(text);
    item.hidden = folded ? !named && !folded.querySelector("li:not([hidden])") : !named;
    if (folded) folded.open = Boolean(text) || (kept.open[folded.dataset.group] ?? false);
  }
  for (const item of list.querySelectorAll("li")) {
    const of = item.parentElement.closest("li"); // all of a group that is named itself
    if (of && !of.hidden && of.querySelector("span").textContent.toLowerCase().includes(text)) item.hidden = false;
  }
}

function fold(folded) {
  keep({ folded });
  root.classList.toggle("folded", folded);
}

/** Open or close the menu of a phone, which lies above the page. */
function draw(open) {
  const filter = document.querySelector(".menu input");
  root.classList.toggle("drawer", open);
  if (!open) return;
  filter.value = "";
  filter.dispatchEvent(new Event("input"));
  filter.focus();
}

const toggle = () => (PHONE.matches ? draw(!root.classList.contains("drawer")) : fold(!kept.folded));

/** Draw the frame for the person, and return the place for pages. `left` is called with the address of a page that is closed. */
export function frame({ user, menus, shell, choices, left }) {
  forget = left;
  key = `tradewind.tabs.${user.userId}`;
  tabs = JSON.parse(sessionStorage.getItem(key) ?? "[]");
  const [bell, news] = shell.inbox ? inbox(shell.inbox, user.userId) : [];
  const name = user.realName || user.username;
  const person = element("button", { type: "button", className: "who", title: say("person"), ariaLabel: `${say("person")}: ${name}` }, icon("circle-user-round"), element("span", { textContent: name }));
  const settings = panel(person, "panel choices", say("person"), element("h2", { textContent: name }), ...choices);
  const search = element("button", { type: "button", className: "search", title: say("find"), onclick: openFinder }, icon("search"), element("span", { textContent: say("find") }), element("kbd", { textContent: "Ctrl K" }));
  const header = element("header", {}, iconButton("panel-left", say("fold"), toggle, { className: "fold" }), element("strong", { textContent: "Tradewind" }),
    search, iconButton("star", say("star"), () => { star(current, titleNow()); mark(); }, { className: "star" }), bell ?? null, person);
  const skip = element("a", { className: "skip", href: "#content", textContent: say("skip"), onclick: (event) => { event.preventDefault(); content.focus(); } });
  const content = element("main", { id: "content", tabIndex: -1 });
  const veil = element("div", { className: "veil", onclick: () => draw(false) });
  root.replaceChildren(skip, header, navigation(menus), veil, element("nav", { className: "tabs", ariaLabel: say("opened") }, element("ul")), content, bar(shell, news), settings, ...news ? [news] : []);
  root.classList.toggle("folded", kept.folded);
  root.addEventListener("keydown", (event) => { if (event.key === "Escape" && root.classList.contains("drawer")) draw(false); });
  return content;
}

/** Return what a thumb reaches on a phone: home, what waits for the person, news, and the menu. */
function bar(shell, news) {
  const desk = pages.get(`#/${shell.desk}`);
  const list = element("nav", { className: "bar", ariaLabel: say("menu") }, link(HOME, pages.get(HOME)));
  if (desk) list.append(link(`#/${desk.code}`, { title: say("todo"), icon: desk.icon }));
  const labelled = (name, title, more) => element("button", { type: "button", ...more }, icon(name), element("span", { textContent: title }));
  if (news) {
    const bell = labelled("bell", say("inbox"), { className: "inbox", popoverTargetElement: news });
    bell.append(element("b"));
    list.append(bell);
  }
  list.append(labelled("menu", say("menu"), { className: "more", onclick: toggle }));
  return list;
}

const titleNow = () => titleOf(tabs.find((one) => one.at === current) ?? { at: current, title: "" });

/** Show that the page at this address is open, under its title; the oldest one is closed where there are too many. */
export function opened(at, title) {
  current = at;
  const tab = tabs.find((one) => one.at === at);
  if (tab) tab.title = title;
  else tabs.push({ at, title });
  if (tabs.length > MOST_TABS) forget(tabs.splice(tabs[0].at === at ? 1 : 0, 1)[0].at);
  sessionStorage.setItem(key, JSON.stringify(tabs));
  if (at !== HOME && title !== "…") visit(at, title);
  draw(false);
  mark();
}

/** Return whether a page has a tab, so that it is kept as the person left it. */
export const isOpen = (at) => tabs.some((one) => one.at === at);

function close(at) {
  const place = tabs.findIndex((one) => one.at === at);
  tabs = tabs.filter((one) => one.at !== at);
  sessionStorage.setItem(key, JSON.stringify(tabs));
  forget(at);
  if (at === current) location.hash = (tabs[place] ?? tabs[place - 1] ?? { at: HOME }).at;
  else mark();
}

/** Draw what depends on the page that is shown: the tabs, the person's own pages in the menu, and what is marked as current. */
function mark() {
  const rows = tabs.map((tab) => {
    const title = titleOf(tab), shown = link(tab.at, { title, icon: menuAt(tab.at)?.icon });
    shown.addEventListener("auxclick", (event) => { if (event.button === 1) { event.preventDefault(); close(tab.at); } });
    return element("li", {}, shown, iconButton("x", say("closePage", { title }), () => close(tab.at)));
  });
  document.querySelector(".tabs ul").replaceChildren(...rows);
  const own = [["starred", "star", kept.starred], ["recent", "history", kept.recent]].filter(([, , found]) => found.length);
  const listed = ([code, name, found]) => group(`*${code}`, say(code), name, ...found.map((one) => element("li", {}, link(one.at, { title: titleOf(one), icon: menuAt(one.at)?.icon }))));
  document.querySelector(".menu .own").replaceChildren(...own.map(listed));
  const menu = `#/${menuAt(current)?.code ?? ""}`, starred = isStarred(current), mine = document.querySelector("header .star");
  for (const one of document.querySelectorAll("nav a")) {
    const at = one.getAttribute("href");
    one.ariaCurrent = at === current || (one.dataset.menu && at === menu) ? "page" : null;
    if (one.ariaCurrent && one.dataset.menu) for (let outer = one.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
  }
  document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  mine.ariaPressed = String(starred);
  mine.title = mine.ariaLabel = say(starred ? "unstar" : "star");
}

/** Let the browser install the console, and show a page of its own where the service is out of reach. */
export function installable() {
  navigator.serviceWorker?.register(`${base}/console/worker.js`, { scope: `${base}/console` }).catch(() => undefined); // without one, all else works
}
