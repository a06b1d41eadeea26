// The session: log-in, tokens and their renewal. Tokens are kept only in this tab: in memory and in its sessionStorage.

import { checked } from "./paths.js";
import { dialogue, element, language, say } from "./words.js";

const KEPT = "tradewind.session";
const EXPIRED = 40101, ENDED = [40100, 40102], CHANGE_FIRST = 40301, LOCKED = 42300;
/** The path of the service: the page is at `<base>/console`. */
export const base = location.pathname.replace(/\/console\/?$/, "");
let tokens = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
let renewing = null;
let asking = null;

function keep(given) {
  tokens = given && { accessToken: given.accessToken, refreshToken: given.refreshToken };
  if (tokens) sessionStorage.setItem(KEPT, JSON.stringify(tokens));
  else sessionStorage.removeItem(KEPT);
}

/** Send a request, and return its status, headers and envelope, or a file. Throws an error if the network fails, or if
 * the path could be taken for another one. */
async function sent(path, { method = "GET", query, body, headers = {}, file = false }) {
  const more = { "Accept-Language": language, ...headers }, address = base + path + (query ? `?${new URLSearchParams(query)}` : "");
  if (tokens) more.Authorization = `Bearer ${tokens.accessToken}`;
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) more["Content-Type"] = "application/json";
  const content = body === undefined || isForm ? body : JSON.stringify(body);
  const response = await fetch(checked(address), { method, headers: more, body: content, credentials: "omit" });
  const isJson = (response.headers.get("Content-Type") ?? "").startsWith("application/json");
  if (file && response.ok && !isJson) return { status: 200, headers: response.headers, file: await response.blob() };
  return { ...failure(response.status, response.headers), ...(isJson ? await response.json() : {}) };
}

/** Return the reply to a request that the service did not answer: it has no code. */
export const failure = (status = 0, headers = new Headers()) => ({ status, headers, msg: say("failed") });
const send = (path, options = {}) => sent(path, options).catch(() => failure());

/** Return what a refusal says, with its reasons and the fields that these are about. */
export const reasons = ({ msg, data }) => [msg, ...(data?.errors ?? []).map((fault) => `${fault.field} ${fault.message}`)].join(" · ");

/** Call the API; never throws. After renewing an expired token or a new log-in for an ended session, the call is repeated. */
export async function call(path, options = {}) {
  const used = tokens;
  const reply = await send(path, options);
  const outcome = reply.code === EXPIRED ? await renewed(used) : reply;
  if (reply.code === EXPIRED && outcome.code === 0) return call(path, options);
  if (ENDED.includes(outcome.code)) {
    keep(null);
    await login(say("expired"));
    return call(path, options);
  }
  if (reply.code === CHANGE_FIRST) {
    await changePassword();
    return call(path, options);
  }
  return outcome;
}

/** Renew the tokens that were used, once for all concurrent calls, and return the reply: a success if there are newer ones. */
async function renewed(used) {
  if (tokens && tokens !== used) return { code: 0 };
  renewing ??= send("/api/v1/auth/refresh", { method: "POST", body: { refreshToken: used?.refreshToken ?? "" } })
    .then((reply) => { if (reply.code === 0) keep(reply.data); return reply; })
    .finally(() => { renewing = null; });
  return renewing;
}

/** Return the access token, for connections that cannot use `call`. */
export function bearer() { return tokens?.accessToken; }

/** Make sure that the person is logged in: ask for name and password if there is no session. */
export async function begin() { if (!tokens) await login(); }

/** End the session and reload the page. */
export async function end() {
  await send("/api/v1/auth/logout", { method: "POST" });
  keep(null);
  sessionStorage.clear(); // with the drafts of forms
  location.hash = "";
  location.reload();
}

function login(reason = "") {
  asking ??= ask(say("login"), reason, { username: "text", password: "password" }, async (given) => {
    const reply = await send("/api/v1/auth/login", { method: "POST", body: given });
    if (reply.code === 0) keep(reply.data);
    return reply;
  }).finally(() => { asking = null; });
  return asking.then(() => undefined);
}

/** Ask for a new password, once for all concurrent calls, and log in again with it: a change of the password ends every session. */
function changePassword() {
  asking ??= ask(say("change"), say("first"), { oldPassword: "password", newPassword: "password" }, async (given) => {
    const { user } = (await send("/api/v1/auth/profile")).data;
    const body = { old_password: given.oldPassword, new_password: given.newPassword };
    const reply = await send("/api/v1/auth/password", { method: "PUT", body });
    if (reply.code !== 0) return reply;
    keep(null);
    const again = { username: user.username, password: given.newPassword };
    const session = await send("/api/v1/auth/login", { method: "POST", body: again });
    if (session.code === 0) keep(session.data);
    return session;
  }).finally(() => { asking = null; });
  return asking.then(() => undefined);
}

function complaint(reply) {
  const seconds = Number(reply.headers.get("Retry-After"));
  if (reply.code === LOCKED && seconds) return say("locked", { minutes: Math.ceil(seconds / 60) });
  return [reply.msg, ...(reply.data?.errors ?? []).map((fault) => fault.message)].join(": ");
}

/** Show a form above the unchanged page; the promise resolves once `submit` returns a success. */
function ask(title, reason, fields, submit) {
  return new Promise((resolve) => {
    const complaintLine = element("p", { className: "complaint", role: "alert", textContent: reason });
    const inputs = Object.entries(fields).map(([name, type]) => element("label", {}, say(name), element("input", {
      name, type, required: true, autocomplete: type === "text" ? "username" : "current-password",
    })));
    const button = element("button", { type: "submit", textContent: title });
    const form = element("form", {}, complaintLine, ...inputs, button);
    const dialog = dialogue("login", title, form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      const reply = await submit(Object.fromEntries(new FormData(form)));
      button.disabled = false;
      if (reply.code !== 0) { complaintLine.textContent = complaint(reply); return; }
      dialog.close();
      resolve();
    });
    dialog.addEventListener("cancel", (event) => event.preventDefault());
  });
}
