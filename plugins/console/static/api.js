// What the renderer needs of us: calls to the API in its terms.

import { change, differs } from "./conflict.js";
import { call } from "./session.js";
import { noteRefusal } from "./told.js";
import { element, say } from "./words.js";

const read = new Map();
const following = new Map(); // the cursors of the pages that follow those that were read, by what was asked
const asking = new Map();
const INVALID = 40001, MOST_IDS = 100, SHARED_MILLISECONDS = 1000;

/** The parameters of the API for those that the renderer sends; what is empty is left out. */
function query(asked) {
  const sent = new URLSearchParams();
  const { perPage, orderBy, orderDir, ...rest } = asked;
  if (orderBy) rest.sort = orderDir === "desc" ? `-${orderBy}` : orderBy;
  if (perPage) rest.page_size = perPage;
  for (const [name, value] of Object.entries(rest)) {
    if (blank(value) || name.startsWith("_")) continue; // `_replace` is the renderer's
    sent.set(name, Array.isArray(value) ? value.join(",") : value);
  }
  return sent;
}

/** Whether nothing was entered: an object whose values are all blank is. */
function blank(value) {
  const holds = value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Blob);
  return holds ? Object.values(value).every(blank) : ["", null, undefined].includes(value);
}

/** The body of a change: what differs from the record as it was read, and its version. */
function changes(path, body) {
  const before = read.get(path) ?? {};
  const changed = (name) => differs(body[name], before[name]) && !(blank(body[name]) && before[name] == null);
  const kept = Object.keys(body).filter((name) => name === "version" || changed(name));
  return Object.fromEntries(kept.map((name) => [name, blank(body[name]) ? null : body[name]]));
}

function save(reply) {
  const named = /filename\*=UTF-8''([^;]+)/i.exec(reply.headers.get("Content-Disposition") ?? "");
  const href = URL.createObjectURL(reply.file);
  element("a", { href, download: named ? decodeURIComponent(named[1]) : "export" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** Call by GET. Who asks the same a moment later, as the pickers of thirteen dashboards do, gets the same reply. */
function shared(path) {
  if (!asking.has(path)) {
    setTimeout(() => asking.delete(path), SHARED_MILLISECONDS);
    asking.set(path, call(path));
  }
  return asking.get(path);
}

/** The options of a picker: those that were searched for, and those that are chosen, of which the renderer makes `chosen[0]`, …. */
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
  // by the one name that the renderer knows for what is loaded and for what is searched
  return { ...searched, data: { options: [...known, ...searched.data.items.filter((one) => !ids.has(one.id) && !one.disabled)] } };
}

/** The rows of a list, as the renderer asks for them. */
export const ask = (path, given) => request("GET", path, given, {}, {});

async function request(method, path, given, sent, config) {
  const data = typeof sent === "string" ? JSON.parse(sent) : sent;
  if (method === "GET" && path.startsWith("/api/v1/meta/options/")) return options(path, { ...given, ...data });
  if (method === "GET" || method === "DELETE") {
    const asked = query({ ...given, ...data });
    const list = (page) => `${path}?${new URLSearchParams({ ...Object.fromEntries(asked), page })}`;
    // a page that follows one that was read begins where that one ended, however deep it is
    const cursor = Number(asked.get("page")) > 1 && following.get(list(Number(asked.get("page"))));
    if (cursor) asked.set("cursor", cursor);
    const reply = await call(asked.size ? `${path}?${asked}` : path, { method, file: config.responseType === "blob" });
    if (method === "GET" && reply.code === 0) read.set(path, reply.data);
    if (reply.data?.next_cursor && asked.has("page")) following.set(list(Number(asked.get("page")) + 1), reply.data.next_cursor);
    return reply;
  }
  if (data instanceof FormData) return call(path, { method, body: data });
  if (Object.values(data ?? {}).some((value) => value instanceof Blob)) {
    const form = new FormData();
    for (const [name, value] of Object.entries(data)) form.append(name, value);
    return call(path, { method, body: form });
  }
  if (method === "PATCH") return change(path, { method, body: changes(path, data ?? {}) }, path, read.get(path));
  const record = path.slice(0, path.lastIndexOf("/")); // of an action
  return change(path, { method, body: Object.fromEntries(Object.entries(data ?? {}).filter(([, value]) => !blank(value))) }, record, read.get(record));
}

/** What the renderer calls for every request. */
export async function fetcher({ url, method = "get", data, config = {}, ...rest }) {
  const [path, asked = ""] = url.split("?");
  let reply;
  try {
    reply = await request(method.toUpperCase(), path, Object.fromEntries(new URLSearchParams(asked)), data, { ...rest, ...config });
  } catch {
    return { status: 503, data: { status: 503, msg: say("failed"), data: null } };
  }
  if (reply.file) {
    save(reply);
    return { status: 200, data: { status: 0, msg: "", data: {} } };
  }
  noteRefusal(reply, method.toUpperCase(), path);
  const faults = reply.code === INVALID ? reply.data?.errors ?? [] : [];
  const errors = Object.fromEntries(faults.map((fault) => [fault.field, fault.message]));
  const message = reply.code === 0 ? "" : [reply.msg, ...faults.map((fault) => `${fault.field} ${fault.message}`)].join(" · ");
  // 422 is what a form shows beside its fields
  const status = reply.code === 0 ? 0 : faults.length ? 422 : reply.code ?? reply.status;
  return { status: 200, data: { status, msg: message, errors, data: reply.data ?? {} } };
}
