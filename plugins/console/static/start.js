// The shell: waits for the renderer, logs in, shows the menus, and draws the page that the address names.

import { mendControls } from "./accessible.js";
import { fetcher } from "./api.js";
import { remember } from "./conflict.js";
import { firstPage, mark, navigation } from "./menu.js";
import { inbox } from "./inbox.js";
import { base, begin, call, end } from "./session.js";
import { notify } from "./told.js";
import { filters, useZone } from "./values.js";
import { chooseView } from "./views.js";
import { button, element, language, say, switchLanguage } from "./words.js";

const WAIT_MILLISECONDS = 1500, VIEWS = "view:";
const root = document.getElementById("console");
let drawn = null;

/** What is pinned, once the renderer's files are there; until then the page says how far they are. */
async function renderer() {
  for (;;) {
    const reply = await fetch(`${base}/api/v1/console/renderer`, { headers: { "Accept-Language": language } })
      .then((response) => response.json()).catch(() => null);
    if (reply?.data?.state === "ready") return reply.data;
    root.replaceChildren(element("p", { className: "notice", role: "status", textContent: reply?.data?.message ?? say("failed") }));
    await new Promise((resolve) => setTimeout(resolve, WAIT_MILLISECONDS));
  }
}

function load(address) {
  return new Promise((resolve, reject) => {
    const script = address.endsWith(".js");
    const part = script ? element("script", { src: address, async: false }) : element("link", { rel: "stylesheet", href: address });
    part.addEventListener("load", resolve);
    part.addEventListener("error", () => reject(new Error(address)));
    document.head.append(part);
  });
}

/** Load the renderer, and tell it how we show values. */
async function loadRenderer() {
  const { version, time_zone: timeZone, files, zones, inbox: box } = await renderer();
  const at = `${base}/console/renderer/${version}`;
  const other = theme() === "dark" ? "antd.css" : "dark.css";
  const styles = files.filter((name) => name.endsWith(".css") && name !== other).map((name) => load(`${at}/${name}`));
  await Promise.all([...styles, load(`${at}/sdk.js`)]);
  const library = window.amisRequire("amis");
  useZone(timeZone);
  for (const [name, filter] of Object.entries(filters)) library.registerFilter(name, filter);
  // dates that people choose are in the business time zone too
  const moment = await new Promise((resolve) => window.amisRequire([zones], resolve));
  moment.tz.setDefault(timeZone);
  return { embed: window.amisRequire("amis/embed"), box };
}

/** The theme that was chosen, else the system's. */
function theme() {
  return localStorage.getItem("tradewind.theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

/** Change to the other theme; the page is made anew, with the renderer's files for it. */
function switchTheme() {
  localStorage.setItem("tradewind.theme", theme() === "dark" ? "light" : "dark");
  location.reload();
}

function frame(user, menus, box) {
  const paint = button(say(theme() === "dark" ? "light" : "dark"), switchTheme);
  const choices = [paint, button(say("language"), switchLanguage), button(say("logout"), end)];
  const name = element("span", { textContent: user.realName || user.username });
  const header = element("header", {}, element("strong", { textContent: "Tradewind" }), box ? inbox(box) : null, name, ...choices);
  const skip = element("a", { className: "skip", href: "#content", textContent: say("skip") });
  skip.addEventListener("click", (event) => { event.preventDefault(); document.getElementById("content").focus(); });
  const content = element("main", { id: "content", tabIndex: -1 });
  root.replaceChildren(skip, header, navigation(menus, say("menu")), content);
}

/** Draw the page of the address: `#/<menu>`, or `#/records/<list>/<id>`. */
async function show(embed, menus, me) {
  const [first, list, id] = location.hash.replace(/^#\//, "").split("/").map(decodeURIComponent);
  const code = first || firstPage(menus);
  const content = document.getElementById("content");
  if (!code) return content.replaceChildren(element("p", { className: "notice", textContent: say("empty") }));
  const path = first === "records" ? `records/${encodeURIComponent(list)}` : `pages/${encodeURIComponent(code)}`;
  if (first !== "records") mark(code);
  const reply = await call(`/api/v1/console/${path}`).catch(() => null);
  drawn?.unmount();
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
      const list = to.startsWith(VIEWS) && drawn.getComponentById(to.slice(VIEWS.length));
      if (list) chooseView(list, to.slice(VIEWS.length), me);
      else location.hash = to.replace(/^.*#/, "#");
    },
    updateLocation: () => undefined,
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
  const draw = () => show(embed, menus, profile.user.userId);
  addEventListener("hashchange", draw);
  await draw();
}

start().catch((error) => {
  const again = button(say("again"), () => location.reload());
  root.replaceChildren(element("p", { className: "notice", role: "alert" }, say("failed"), " ", again));
  throw error;
});
