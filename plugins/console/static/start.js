// Waits for the renderer, logs in, shows the frame, and draws the page that the address names.

import { mendControls } from "./accessible.js";
import { fetcher } from "./api.js";
import { remember } from "./conflict.js";
import { registerLists } from "./lists.js";
import { base, begin, call, end } from "./session.js";
import { listenForKeys } from "./finder.js";
import { isLink, showLink } from "./link.js";
import { notify } from "./notices.js";
import { registerParts } from "./parts.js";
import { isStep } from "./paths.js";
import { HOME, learn, placeOf } from "./places.js";
import { frame, installable, isOpen, opened } from "./shell.js";
import { asText, filters, useZone } from "./values.js";
import { actOnRows, chooseView, openSheet } from "./views.js";
import { button, choose, element, language, loadIcons, onTop, say } from "./words.js";

const WAIT_MILLISECONDS = 1500, LEAVE_MILLISECONDS = 3000;
// the functions that a list's buttons call, by the verbs of their addresses
const OF_LISTS = { view: chooseView, sheet: openSheet, bulk: actOnRows, place: (list, link) => { location.hash = placeOf(link) ?? location.hash; } };
const root = document.getElementById("console");
const RELOADED = ["page", "crud", "service"];
const waiting = new Map(); // the pages that were left, by their addresses
let drawn = null; // the page that is shown
let loadCharts = null; // few pages have charts, and they are a fifth of the renderer

/** Wait until the renderer's files are there, showing how far the download is, and return what is pinned. */
async function renderer() {
  for (;;) {
    const reply = await fetch(`${base}/api/v1/console/renderer`, { headers: { "Accept-Language": language } })
      .then((response) => response.json()).catch(() => null);
    if (reply?.data?.state === "ready") return reply.data;
    root.replaceChildren(element("p", { className: "notice", role: "status", textContent: reply?.data?.message ?? say("failed") }));
    await new Promise((resolve) => setTimeout(resolve, WAIT_MILLISECONDS));
  }
}

const load = (address) => new Promise((onload, onerror) => document.head.append(address.endsWith(".js")
  ? element("script", { src: address, async: false, onload, onerror })
  : element("link", { rel: "stylesheet", href: address, onload, onerror })));

/** Load the renderer, register the filters that show values, and return what draws a page with what it knows. */
async function loadRenderer() {
  const { version, time_zone: timeZone, currency, files, zones, charts } = await renderer();
  const other = theme() === "dark" ? "antd.css" : "dark.css";
  await Promise.all(files.filter((name) => name !== other).map((name) => load(`${base}/console/renderer/${version}/${name}`)));
  const library = window.amisRequire("amis");
  useZone(timeZone);
  for (const [name, filter] of Object.entries(filters)) library.registerFilter(name, filter);
  registerLists(library, window.amisRequire("react"), () => [...partsOf(drawn?.page)].some(({ props }) => props.type === "crud" && props.store?.loading));
  // dates that people choose are in the business time zone too
  const moment = await new Promise((resolve) => window.amisRequire([zones], resolve));
  loadCharts = () => new Promise((resolve) => window.amisRequire([charts], resolve));
  moment.tz.setDefault(timeZone);
  const embed = window.amisRequire("amis/embed");
  // after it, as it brings the texts that are replaced; a page has its lists once it is drawn
  registerParts(library, window.amisRequire("react"), (id) => drawn?.page.getComponentById?.(id));
  return (place, page, known, more) => embed.embed(place, page, { data: { ...known, currency }, locale: language === "zh" ? "zh-CN" : "en-US" }, more);
}

/** Return the theme that was chosen, else the system's. */
const preferred = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
const theme = () => localStorage.getItem("tradewind.theme") ?? preferred();

/** Return what the person can choose for themselves: theme, language, log-out. */
function choices() {
  const other = theme() === "dark" ? "light" : "dark";
  return [button(say(other), () => choose("theme", other)),
    button(say("language"), () => choose("language", language === "en" ? "zh" : "en")), button(say("logout"), end)];
}

/** Keep a page that has a tab as it is, without its place on the screen; one with an open form ends, after its pending requests. */
function leave() {
  if (!drawn) return;
  const left = drawn;
  drawn = null;
  if (isOpen(left.at) && !onTop()) {
    waiting.set(left.at, { ...left, top: scrollY });
    left.place.remove();
  } else setTimeout(() => left.page.unmount(), LEAVE_MILLISECONDS);
}

function forget(at) {
  waiting.get(at)?.page.unmount();
  waiting.delete(at);
}

/** Yield the renderer's components within a scope; some have a scope of their own. */
function* partsOf(scope, known = new Set()) {
  if (!scope?.getComponents || known.has(scope)) return;
  known.add(scope);
  for (const part of scope.getComponents()) {
    yield part;
    yield* partsOf(part.context, known);
  }
}

/** Show a page again as it was left, with its data read anew, unless it is another one by now. */
function again(at, text, content) {
  const before = waiting.get(at);
  if (before?.text !== text) return forget(at);
  waiting.delete(at);
  drawn = before;
  content.replaceChildren(before.place);
  for (const part of partsOf(before.page)) if (RELOADED.includes(part.props.type)) part.reload?.();
  scrollTo(0, before.top);
  return before;
}

/** Name the tab of a record by the title that its page shows, once the record is there. */
function watchTitle(at, place) {
  const read = () => {
    const title = place.querySelector("[class*=-Page-title]")?.textContent.trim();
    if (title && drawn?.place === place && title !== drawn.title) opened(at, drawn.title = title);
  };
  new MutationObserver(read).observe(place, { childList: true, subtree: true, characterData: true });
}

/** Draw the page of the address: `#/<menu>`, or `#/records/<list>/<id>`; the path of a link in a message leads to one. */
async function show(embed, me) {
  const named = placeOf(location.hash.slice(1));
  if (named && named !== location.hash) { location.replace(named); return null; }
  const { hash } = location, at = hash.length > 2 ? hash : HOME, steps = at.replace(/^#\//, "").split("/"), [first, list, id] = steps;
  const content = document.getElementById("content");
  const path = first === "records" ? `records/${list}` : `pages/${first}`;
  const reply = steps.every(isStep) ? await call(`/api/v1/console/${path}`) : { code: null };
  const text = JSON.stringify(reply.data);
  if (text?.includes('"type":"chart"')) await loadCharts();
  if (hash !== location.hash) return null; // another page has been opened in the meantime
  leave();
  content.setAttribute("aria-busy", "false");
  if (reply.code !== 0) {
    const again = reply.code === undefined && button(say("again"), () => dispatchEvent(new Event("hashchange")));
    return content.replaceChildren(element("p", { className: "notice", role: "alert" }, say(again ? "failed" : "missing"), " ", again || ""));
  }
  remember(reply.data);
  const title = /\$\{/.test(reply.data.title) ? "…" : reply.data.title;
  const kept = again(at, text, content);
  opened(at, kept?.title ?? title);
  if (kept) return null;
  const place = element("div", { className: "drawn" });
  content.replaceChildren(place);
  scrollTo(0, 0);
  const page = embed(place, reply.data, { record_id: id, me }, {
    fetcher,
    isCancel: () => false,
    theme: theme() === "dark" ? "dark" : "antd",
    notify,
    jumpTo: (to) => {
      const [verb, id] = to.split(/:(.*)/), [list, place] = verb === "bulk" ? id.split(":") : [id];
      if (verb in OF_LISTS) OF_LISTS[verb](page.getComponentById(list), list, me, place);
      else location.hash = to.replace(/^[^#]*/, "");
    },
    updateLocation: () => undefined,
    filterHtml: asText,
    isCurrentUrl: () => false,
    enableAMISDebug: false,
  });
  drawn = { at, text, place, page, title };
  if (title === "…") watchTitle(at, place);
}

async function start() {
  document.documentElement.lang = language;
  document.documentElement.dataset.theme = theme();
  installable();
  mendControls();
  const linked = isLink();
  addEventListener("hashchange", () => { if (linked || isLink()) location.reload(); });
  if (linked) { await showLink(root); return; }
  const loading = Promise.all([loadRenderer(), loadIcons()]);
  await begin();
  const asked = ["/api/v1/auth/profile", "/api/v1/system/menus", "/api/v1/console/shell"].map((path) => call(path));
  const [{ data: { user } }, { data: menus }, { data: shell }] = await Promise.all(asked);
  const [embed] = await loading;
  learn(user.userId, menus, shell.lists);
  frame({ user, menus, shell, choices: choices(), left: forget });
  listenForKeys(shell.search);
  const draw = () => show(embed, user.userId);
  addEventListener("hashchange", draw);
  await draw();
}

start().catch((error) => {
  const again = button(say("again"), () => location.reload());
  root.replaceChildren(element("p", { className: "notice", role: "alert" }, say("failed"), " ", again));
  throw error;
});
