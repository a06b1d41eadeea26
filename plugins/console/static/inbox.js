// The bell: the newest notifications in a panel, the number of unread ones, and their news, live in every tab.

import { tell } from "./notices.js";
import { placeOf } from "./places.js";
import { base, bearer, call } from "./session.js";
import { filters } from "./values.js";
import { button, element, icon, panel, say } from "./words.js";

const LEAST_MILLISECONDS = 1000, MOST_MILLISECONDS = 60_000, MOST = 15;

/** Return the bell for the inbox at this path, with its panel. */
export function inbox(path, user) {
  const count = element("b"), list = element("ul"), all = `#/${path.split("/").pop()}`;
  const bell = element("button", { type: "button", className: "inbox", title: say("inbox") }, icon("bell"), element("span", { className: "unseen", textContent: say("inbox") }), count);
  const readAll = button(say("allRead"), async () => { await call(`${path}/read-all`, { method: "POST" }); await load(); });
  const foot = element("footer", {}, readAll, element("a", { href: all, textContent: say("all") }));
  const box = panel(bell, "panel news", say("inbox"), element("h2", { textContent: say("inbox") }), list, foot);
  foot.lastChild.addEventListener("click", () => box.hidePopover());
  box.addEventListener("toggle", (event) => { if (event.newState === "open") load(); });

  function note(unread) {
    for (const one of document.querySelectorAll(".inbox b")) one.textContent = unread > 99 ? "99+" : unread || "";
  }

  function row(message) {
    const act = async () => {
      const place = placeOf(message.link);
      box.hidePopover();
      if (place) location.hash = place;
      if (message.unread) await call(`${path}/${message.id}/read`, { method: "POST" });
    };
    const said = [element("strong", { textContent: message.title }), message.body ? element("span", { textContent: message.body }) : null];
    const made = button("", act);
    made.append(...said.filter(Boolean), element("time", { dateTime: message.created_at, textContent: filters.moment(message.created_at) }));
    return element("li", { className: message.unread ? "unread" : "" }, made);
  }

  async function load() {
    const reply = await call(`${path}?page_size=${MOST}`);
    const rows = reply.data?.items?.map(row) ?? [];
    readAll.hidden = !rows.some((one) => one.className);
    list.replaceChildren(...rows.length ? rows : [element("li", { className: "none", textContent: reply.code === 0 ? say("noNews") : reply.msg })]);
  }

  share(path, user, (message) => {
    if (message.type === "notification") {
      const place = placeOf(message.data.link) ?? all;
      tell(message.data.title, element("a", { href: place, textContent: say("open") }));
      if (box.matches(":popover-open")) load();
    }
    const unread = message.unread ?? message.count;
    if (unread !== undefined) note(unread);
  });
  return [bell, box];
}

/** Pass on the messages of the WebSocket. One tab of this person holds it, and tells the others; when it ends, another takes over. */
async function share(path, user, pass) {
  const name = `tradewind.inbox.${user}`, others = new BroadcastChannel(name);
  const hold = navigator.locks ? (act) => navigator.locks.request(name, act) : (act) => act();
  let last = "", wait = LEAST_MILLISECONDS;
  const receive = (message) => {
    if (message.type === "ready") wait = LEAST_MILLISECONDS;
    last = message.last_id ?? message.data?.id ?? last;
    pass(message);
  };
  others.addEventListener("message", ({ data }) => receive(data));
  for (;;) {
    // a handshake cannot renew an expired token, but a call does; it also tells a tab without the socket the number
    const reply = await call(`${path}?page_size=1&unread=true`);
    if (reply.code === 0) {
      if (reply.data.total !== undefined) pass({ type: "unread", count: reply.data.total });
      await hold(() => listen(`${path}/ws${last && `?last_id=${last}`}`, (message) => { others.postMessage(message); receive(message); }));
    }
    await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random() / 2)));
    wait = Math.min(2 * wait, MOST_MILLISECONDS);
  }
}

/** Open a WebSocket and pass on its messages until it closes. */
function listen(path, pass) {
  const address = new URL(base + path, location.href);
  address.protocol = location.protocol.replace("http", "ws");
  const socket = new WebSocket(address, [`bearer.${bearer()}`]);
  socket.addEventListener("message", ({ data }) => pass(JSON.parse(data)));
  return new Promise((resolve) => { socket.addEventListener("close", resolve); });
}
