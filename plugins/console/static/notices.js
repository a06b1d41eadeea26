// Short messages on the page: failures, the reasons of refusals, and news.

import { call } from "./session.js";
import { button, dialogue, element, say } from "./words.js";

const SHOWN_MILLISECONDS = 10_000, FORBIDDEN = 40300;
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
  const reply = await call("/api/v1/auth/explain", { query: asked });
  const reasons = reply.code === 0 ? reply.data.reasons : [reply.msg];
  const list = element("ul", {}, ...reasons.map((reason) => element("li", { textContent: reason })));
  const dialog = dialogue("asked", say("why"), list, button(say("close"), () => dialog.close()));
}
