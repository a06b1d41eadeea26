// The page of a link in a message: what waits for one person, made for a phone, and without the frame and the renderer.

import { base, call, end, reasons } from "./session.js";
import { button, element, language, say } from "./words.js";

const LINK = /^#\/links\/([\w-]+)\/([\w.-]+)$/;

/** Return whether the page's address is that of a link in a message: `#/links/<plugin>/<token>`. */
export const isLink = () => LINK.test(location.hash);

/** Show what the link of the address is about; the plugin that signed it says what can be done. */
export async function showLink(root) {
  const [, plugin, token] = LINK.exec(location.hash);
  const ask = (step, more = {}) => call(`/api/v1/${plugin}/links/${step}`, { method: "POST", body: { token, ...more } });
  const opened = await ask("open");
  if (opened.code !== 0) return draw(root, element("p", { role: "alert", textContent: opened.msg }), aside(opened.status === 403));
  draw(root, ...task(opened.data, async (action, comment) => {
    const reply = await ask("decide", { action: action.action, ...comment ? { comment } : {} });
    if (reply.code !== 0) return reasons(reply);
    draw(root, element("h1", { textContent: opened.data.title }), element("p", { role: "status", textContent: say("decided", { action: action.label }) }), aside());
    return "";
  }));
}

function draw(root, ...children) {
  document.title = "Tradewind";
  root.replaceChildren(element("main", { className: "link" }, ...children));
}

/** Return what leads elsewhere: to the console, or to another log-in. */
const aside = (other = false) => element("p", {}, other ? button(say("logout"), end) : element("a", { href: `${base}/console`, textContent: say("openConsole") }));

/** Return the parts of a task: what it is about, what was said, and the buttons; `decide` returns why it is refused. */
function task({ title, user_name: name, content, said, actions, logged_in: loggedIn }, decide) {
  const rows = content.flatMap(({ label, value }) => [element("dt", { textContent: label }), element("dd", { textContent: value })]);
  const spoken = said.map(({ name: who, comment, at }) => element("li", {}, element("strong", { textContent: who }), element("time", { dateTime: at, textContent: new Date(at).toLocaleString(language) }), element("span", { textContent: comment })));
  const comment = element("textarea", { name: "comment", rows: 3, maxLength: 1000 }), complaint = element("p", { className: "complaint", role: "alert" });
  const act = (action) => async () => {
    complaint.textContent = action.needs_comment && !comment.value.trim() ? say("needsComment") : "";
    if (complaint.textContent) { comment.focus(); return; }
    for (const one of buttons) one.disabled = true;
    complaint.textContent = await decide(action, comment.value.trim());
    for (const one of buttons) one.disabled = false;
  };
  const buttons = actions.map((action) => button(action.label, act(action)));
  const about = element("p", { className: "whom", textContent: say(loggedIn ? "asks" : "asksAlone", { name }) });
  return [element("h1", { textContent: title }), about, element("dl", {}, ...rows), ...spoken.length ? [element("ul", {}, ...spoken)] : [],
    element("label", {}, say("comment"), comment), complaint, element("footer", {}, ...buttons.reverse()), aside()];
}
