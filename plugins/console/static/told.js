// What the page says for a moment: news, what failed, and why it was refused.

import { call } from "./session.js";
import { button, dialogue, element, say } from "./words.js";

const SHOWN_MILLISECONDS = 10_000, FORBIDDEN = 40300;
let refused = null;

/** Say a text, with something to click beside it, until it has been read. */
export function tell(text, beside = null) {
  const box = document.getElementById("told") ?? element("div", { id: "told", role: "status" });
  document.body.append(box); // above what was opened meanwhile
  const shown = element("div", {}, element("span", { textContent: text }), beside);
  box.append(shown);
  setTimeout(() => shown.remove(), SHOWN_MILLISECONDS);
}

/** Remember a reply that was a refusal, for whoever asks why. */
export function noteRefusal(reply, method, path) { if (reply.code === FORBIDDEN) refused = { method, path }; }

/** What the renderer says of a request. After a refusal it can be asked for its reasons. */
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
