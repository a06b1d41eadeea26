// The interface between the renderer and the API: translates the renderer's requests and the API's responses.

import { asked, change, differs, faultAt, remember } from "./conflict.js";
import { forget } from "./drafts.js";
import { noteRows, pick } from "./lists.js";
import { noteRefusal, tell } from "./notices.js";
import { call, reasons } from "./session.js";
import { isBlank } from "./values.js";
import { download, onTop, say } from "./words.js";

const read = new Map();
const following = new Map(); // the cursor of each page that follows one already read, by its request
const asking = new Map();
const PAGES = "/api/v1/console/", OPTIONS = "/api/v1/meta/options/", INVALID = 40001, UNAVAILABLE = 503, MOST_IDS = 100, SHARED_MILLISECONDS = 1000;

/** Return the API's parameters for those that the renderer sends, without empty ones. */
function query(asked) {
  const sent = new URLSearchParams();
  const { perPage, orderBy, orderDir, ...rest } = asked;
  if (orderBy) rest.sort = orderDir === "desc" ? `-${orderBy}` : orderBy;
  if (perPage) rest.page_size = perPage;
  for (const [name, value] of Object.entries(rest)) {
    if (blank(value) || name.startsWith("_")) continue; // the renderer's own, such as `_replace`
    const one = Array.isArray(value) ? value.join(",") : value, of = name.replace(/\[\d+\]$/, ""); // the renderer sends several as `name[0]`, …
    sent.set(of, sent.has(of) ? `${sent.get(of)},${one}` : one);
  }
  return sent;
}

/** Return whether nothing was entered; an object is blank if all its values are. */
function blank(value) {
  const holds = value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Blob);
  return holds ? Object.values(value).every(blank) : isBlank(value) && !Array.isArray(value);
}

/** Return a value without the texts that were left empty in the lines of a table; of a line that is there already, they are null. */
const lean = (value) => (Array.isArray(value) ? value.map((line) => (line?.constructor === Object ? Object.fromEntries(Object.entries(line).filter(([, one]) => one !== "" || line.line).map(([name, one]) => [name, one === "" ? null : one])) : line)) : value);

/** Return the body of a change: the fields that differ from the record as it was read, and its version. */
function changes(path, body) {
  const before = Object.fromEntries(Object.entries(read.get(path) ?? {}).map(([name, value]) => [name, asked(path, name, value)]));
  body = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, asked(path, name, value)]));
  const changed = (name) => differs(body[name], before[name]) && !(blank(body[name]) && before[name] == null);
  const kept = Object.keys(body).filter((name) => name === "version" || changed(name));
  return Object.fromEntries(kept.map((name) => [name, blank(body[name]) ? null : body[name]]));
}

/** Send a GET. The same request within a second, such as from the pickers of several dashboards, gets the same reply. */
function shared(path) {
  if (!asking.has(path)) {
    setTimeout(() => asking.delete(path), SHARED_MILLISECONDS);
    asking.set(path, call(path));
  }
  return asking.get(path);
}

/** Return the options of a picker: those found by the search and the chosen ones, which arrive as `chosen[0]`, and so on. */
async function options(path, given) {
  const ofChosen = ([name]) => name.startsWith("chosen");
  const chosen = Object.entries(given).filter(ofChosen).map(([, id]) => id).filter(Boolean);
  const searched = await shared(`${path}?${query(Object.fromEntries(Object.entries(given).filter((one) => !ofChosen(one))))}`);
  if (searched.code !== 0) return searched;
  const known = [];
  for (let at = 0; at < chosen.length; at += MOST_IDS) {
    const reply = await call(`${path}?${query({ ids: chosen.slice(at, at + MOST_IDS) })}`);
    known.push(...reply.data?.items ?? []);
  }
  const ids = new Set(known.map((one) => one.id));
  // `options` is the only name that the renderer accepts both for loaded options and for found ones
  return { ...searched, data: { options: [...known, ...searched.data.items.filter((one) => !ids.has(one.id) && !one.disabled)] } };
}

/** Request the rows of a list with the renderer's parameters. */
export const ask = (path, given) => request("GET", path, given, {}, {});

async function request(method, path, given, sent, config) {
  const data = typeof sent === "string" ? JSON.parse(sent) : sent;
  if (method === "GET" && path.startsWith(OPTIONS)) return options(path, { ...given, ...data });
  if (method === "GET" || method === "DELETE") {
    const asked = query({ ...given, ...data });
    const list = (page) => `${path}?${new URLSearchParams({ ...Object.fromEntries(asked), page })}`;
    // a page that follows one already read starts where that one ended, at its cursor, however deep it is
    const cursor = Number(asked.get("page")) > 1 && following.get(list(Number(asked.get("page"))));
    if (cursor) asked.set("cursor", cursor);
    const reply = await call(asked.size ? `${path}?${asked}` : path, { method, file: config.responseType === "blob" });
    if (method === "GET" && reply.code === 0) read.set(path, reply.data);
    if (method === "GET") noteRows(path, reply.data?.items);
    if (path.startsWith(PAGES) && reply.code === 0) remember(reply.data, true);
    if (reply.data?.next_cursor && asked.has("page")) following.set(list(Number(asked.get("page")) + 1), reply.data.next_cursor);
    return reply;
  }
  if (data instanceof FormData) return call(path, { method, body: data });
  if (Object.values(data ?? {}).some((value) => value instanceof Blob)) {
    const form = new FormData();
    for (const [name, value] of Object.entries(data)) form.append(name, value);
    return call(path, { method, body: form });
  }
  if (config.responseType === "blob") return call(path, { method, body: data, file: true });
  if (method === "PATCH") return change(path, { method, body: changes(path, data ?? {}) }, path, read.get(path));
  const record = path.slice(0, path.lastIndexOf("/")); // for the path of an action
  return change(path, { method, body: Object.fromEntries(Object.entries(data ?? {}).filter(([, value]) => !blank(value)).map(([name, value]) => [name, lean(value)])) }, record, read.get(record));
}

/** Send a request of the renderer, which calls this function for all of them. */
export async function fetcher({ url, method = "get", data, config = {}, ...rest }) {
  const [path, asked = ""] = url.split("?"), asker = onTop() ?? document.querySelector("main .drawn");
  const given = Object.fromEntries(new URLSearchParams(asked));
  const reply = await request(method.toUpperCase(), path, given, data, { ...rest, ...config });
  // the renderer fails on options for a picker whose form was closed in the meantime
  if (path.startsWith(OPTIONS) && asker && !asker.isConnected) return new Promise(() => {});
  if (reply.file) {
    const named = /filename\*=UTF-8''([^;]+)|filename="([^"]+)"/i.exec(reply.headers.get("Content-Disposition") ?? "");
    download(named ? decodeURIComponent(named[1] ?? named[2]) : "export", reply.file);
    return { status: 200, data: { status: 0, msg: "", data: {} } };
  }
  if (reply.code === 0 && method.toUpperCase() !== "GET") dispatchEvent(new CustomEvent("written", { detail: path }));
  if (reply.code === 0 && method.toUpperCase() === "POST") {
    forget(path);
    pick(path, reply.data);
  }
  noteRefusal(reply, method.toUpperCase(), path);
  if (reply.code === 0 && reply.headers?.get("X-Approval") === "none") tell(say("waits"));
  const faults = reply.code === INVALID ? reply.data?.errors ?? [] : [];
  const shown = faults.map((fault) => faultAt(path, method, fault) || { name: fault.field, label: fault.field, message: fault.message });
  const msg = faults.length ? [reply.msg, ...shown.map(({ label, message }) => `${label} ${message}`)].join(" · ") : reasons(reply);
  const errors = Object.fromEntries(shown.map(({ name, message }) => [name, message]));
  // for 422 the form shows the errors beside its fields
  const status = faults.length ? 422 : reply.code ?? UNAVAILABLE;
  if (reply.code !== 0) return { status: 200, data: { status, msg, errors, data: {} } }; // a form would take up, and send, the data of a refusal
  return { status: 200, data: { status, msg: "", data: reply.data ?? {} } };
}
