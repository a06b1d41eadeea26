// Short messages on the page: failures, the reasons of refusals, and news of the inbox with the number of unread ones.

import { base, bearer, call } from "./session.js";
import { button, dialogue, element, say } from "./words.js";

const SHOWN_MILLISECONDS = 10_000, FORBIDDEN = 40300;
const LEAST_MILLISECONDS = 1000, MOST_MILLISECONDS = 60_000;
let refused = null;

/** Show a text for ten seconds, with an optional element beside it to click. */
export function tell(text, beside = null) {
  const box = document.getElementById("notices") ?? element("div", { id: "notices", role: "status" });
  document.body.append(box); // moves it above what has been opened since
  const shown = element("div", {}, element("span", { textContent: text }), beside);
  box.append(shown);
  setTimeout(() => shown.remove(), SHOWN_MILLISECONDS);
}

/** Remember a reply that was a refusal, so that the person can ask for its reasons. */
export function noteRefusal(reply, method, path) { if (reply.code === FORBIDDEN) refused = { method, path }; }

/** Show the renderer's message about a request; after a refusal, with a button that shows the reasons. */
export function notify(kind, text) {
  const asked = refused;
  refused = null;
  if (text) tell(text, asked && button(say("why"), () => explain(asked)));
}

async function explain(asked) {
  const reply = await call(`/api/v1/auth/explain?${new URLSearchParams(asked)}`);
  const reasons = reply.code === 0 ? reply.data.reasons : [reply.msg];
  const list = element("ul", {}, ...reasons.map((reason) => element("li", { textContent: reason })));
  const dialog = dialogue("asked", say("why"), list, button(say("close"), () => dialog.remove()));
}

/** Return a link to the inbox at this path, with the number of unread notifications. */
export function inbox(path) {
  const place = `#/${path.split("/").pop()}`;
  const count = element("b");
  listen(path, (message) => {
    if (message.type === "notification") tell(message.data.title, element("a", { href: place, textContent: say("open") }));
    const unread = message.unread ?? message.count;
    if (unread !== undefined) count.textContent = unread > 99 ? "99+" : unread || "";
  });
  return element("a", { className: "inbox", href: place }, say("inbox"), count);
}

/** Keep a WebSocket open and pass on its messages, after an interruption also those that arrived during it. */
function listen(path, pass) {
  let last = "", wait = LEAST_MILLISECONDS;
  const again = () => {
    setTimeout(connect, wait * (0.5 + Math.random() / 2));
    wait = Math.min(2 * wait, MOST_MILLISECONDS);
  };
  const connect = async () => {
    // a handshake cannot renew an expired token, but a call does
    const reply = await call(`${path}?page_size=1&with_total=false`).catch(() => null);
    if (reply?.code !== 0) return again();
    const address = new URL(`${base}${path}/ws${last && `?last_id=${last}`}`, location.href);
    address.protocol = location.protocol.replace("http", "ws");
    const socket = new WebSocket(address, [`bearer.${bearer()}`]);
    socket.addEventListener("close", again);
    socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "ready") wait = LEAST_MILLISECONDS;
      last = message.last_id ?? message.data?.id ?? last;
      pass(message);
    });
  };
  connect();
}
