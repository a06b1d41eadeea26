// The shell: waits for the renderer, logs in, shows the menus, and draws the page that the address names.

import { mendControls } from "./accessible.js";
import { fetcher } from "./api.js";
import { remember } from "./conflict.js";
import { registerLists } from "./lists.js";
import { base, begin, call, end } from "./session.js";
import { inbox, notify } from "./notices.js";
import { registerParts } from "./parts.js";
import { isStep } from "./paths.js";
import { asText, filters, useZone } from "./values.js";
import { actOnRows, chooseView, openSheet } from "./views.js";
import { button, choose, element, language, say } from "./words.js";

const WAIT_MILLISECONDS = 1500, LEAVE_MILLISECONDS = 3000;
const OF_LISTS = { view: chooseView, sheet: openSheet, bulk: actOnRows }; // the functions that a list's buttons call, by the verbs of their addresses
const root = document.getElementById("console");
let drawn = null;

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

/** Load the renderer, and register the filters that show values. */
async function loadRenderer() {
  const { version, time_zone: timeZone, files, zones, charts, inbox: box } = await renderer();
  const other = theme() === "dark" ? "antd.css" : "dark.css";
  await Promise.all(files.filter((name) => name !== other).map((name) => load(`${base}/console/renderer/${version}/${name}`)));
  const library = window.amisRequire("amis");
  useZone(timeZone);
  for (const [name, filter] of Object.entries(filters)) library.registerFilter(name, filter);
  registerLists(library, window.amisRequire("react"), (id) => drawn?.getComponentById(id));
  // dates that people choose are in the business time zone too
  const moment = await new Promise((resolve) => window.amisRequire([zones, charts], resolve));
  moment.tz.setDefault(timeZone);
  const embed = window.amisRequire("amis/embed");
  registerParts(library, window.amisRequire("react")); // after it, as it brings the texts that are replaced
  return { embed, box };
}

/** Return the theme that was chosen, else the system's. */
const preferred = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
const theme = () => localStorage.getItem("tradewind.theme") ?? preferred();

function entry(menu) {
  if (menu.type === "link") {
    const link = element("a", { href: menu.meta.link ?? "#", target: "_blank", rel: "noopener", textContent: menu.meta.title });
    return element("li", {}, link);
  }
  if (menu.type === "directory" || menu.children.some((child) => !child.meta.hideInMenu)) {
    const children = menu.children.filter((child) => !child.meta.hideInMenu).map(entry);
    const folded = element("details", { open: true }, element("summary", { textContent: menu.meta.title }), element("ul", {}, ...children));
    return element("li", {}, folded);
  }
  return element("li", {}, element("a", { href: `#/${menu.code}`, "data-menu": menu.code, textContent: menu.meta.title }));
}

/** Return the navigation for a tree of menus. */
function navigation(menus, label) {
  const shown = menus.filter((menu) => !menu.meta.hideInMenu).map(entry);
  return element("nav", { "aria-label": label }, element("ul", {}, ...shown));
}

/** Mark the link of the page that is shown. */
function mark(code) {
  for (const link of document.querySelectorAll("nav a[data-menu]")) link.ariaCurrent = link.dataset.menu === code ? "page" : null;
}

function frame(user, menus, box) {
  const other = theme() === "dark" ? "light" : "dark";
  const choices = [button(say(other), () => choose("theme", other)),
    button(say("language"), () => choose("language", language === "en" ? "zh" : "en")), button(say("logout"), end)];
  const name = element("span", { textContent: user.realName || user.username });
  const header = element("header", {}, element("strong", { textContent: "Tradewind" }), box ? inbox(box) : null, name, ...choices);
  const skip = element("a", { className: "skip", href: "#content", textContent: say("skip") });
  skip.addEventListener("click", (event) => { event.preventDefault(); document.getElementById("content").focus(); });
  const content = element("main", { id: "content", tabIndex: -1 });
  root.replaceChildren(skip, header, navigation(menus, say("menu")), content);
}

/** Draw the page of the address: `#/<menu>`, or `#/records/<list>/<id>`. */
async function show(embed, me) {
  const { hash } = location, steps = hash.replace(/^#\//, "").split("/"), [first, list, id] = steps;
  const code = first || document.querySelector("nav a[data-menu]")?.dataset.menu;
  const content = document.getElementById("content");
  if (!code) return content.replaceChildren(element("p", { className: "notice", textContent: say("empty") }));
  const path = first === "records" ? `records/${list}` : `pages/${code}`;
  if (first !== "records") mark(code);
  const known = !first || steps.every(isStep);
  const reply = known ? await call(`/api/v1/console/${path}`).catch(() => null) : { code: null };
  if (hash !== location.hash) return null; // another page has been opened in the meantime
  setTimeout((left) => left?.unmount(), LEAVE_MILLISECONDS, drawn); // later, so that its pending requests end first
  drawn = null;
  content.setAttribute("aria-busy", "false");
  if (reply?.code !== 0) {
    return content.replaceChildren(element("p", { className: "notice", role: "alert", textContent: reply ? say("missing") : say("failed") }));
  }
  remember(reply.data);
  const place = element("div", { className: "drawn" });
  content.replaceChildren(place);
  drawn = embed.embed(place, reply.data, { data: { record_id: id, me }, locale: language === "zh" ? "zh-CN" : "en-US" }, {
    fetcher,
    isCancel: () => false,
    theme: theme() === "dark" ? "dark" : "antd",
    notify,
    jumpTo: (to) => {
      const [verb, id, place] = to.split(":");
      if (verb in OF_LISTS) OF_LISTS[verb](drawn.getComponentById(id), id, me, place);
      else location.hash = to.replace(/^[^#]*/, "");
    },
    updateLocation: () => undefined,
    filterHtml: asText,
    isCurrentUrl: () => false,
    enableAMISDebug: false,
  });
}

async function start() {
  document.documentElement.lang = language;
  document.documentElement.dataset.theme = theme();
  mendControls();
  const loading = loadRenderer();
  await begin();
  const [{ data: profile }, { data: menus }] = await Promise.all([call("/api/v1/auth/profile"), call("/api/v1/system/menus")]);
  const { embed, box } = await loading;
  frame(profile.user, menus, box);
  const draw = () => show(embed, profile.user.userId);
  addEventListener("hashchange", draw);
  await draw();
}

start().catch((error) => {
  const again = button(say("again"), () => location.reload());
  root.replaceChildren(element("p", { className: "notice", role: "alert" }, say("failed"), " ", again));
  throw error;
});
