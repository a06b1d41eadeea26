// The inbox while the page is open: how much of it is unread, and what arrives.

import { base, bearer, call } from "./session.js";
import { tell } from "./told.js";
import { element, say } from "./words.js";

const LEAST_MILLISECONDS = 1000, MOST_MILLISECONDS = 60_000;

/** A link to the inbox at this path, with the number of what is unread. */
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

/** Keep a WebSocket open, and pass on its messages; after a break those that came meanwhile. */
function listen(path, pass) {
  let last = "", wait = LEAST_MILLISECONDS;
  const again = () => {
    setTimeout(connect, wait * (0.5 + Math.random() / 2));
    wait = Math.min(2 * wait, MOST_MILLISECONDS);
  };
  const connect = async () => {
    // a handshake cannot renew an expired token, and a call does
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
