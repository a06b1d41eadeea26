// What the renderer needs of us: calls to the API in its terms.

import { change, differs } from "./conflict.js";
import { call } from "./session.js";
import { say } from "./words.js";

const read = new Map();
const INVALID = 40001;

/** The parameters of the API for those that the renderer sends; what is empty is left out. */
function query(given) {
  const sent = new URLSearchParams();
  const { perPage, orderBy, orderDir, ...rest } = given;
  if (orderBy) rest.sort = orderDir === "desc" ? `-${orderBy}` : orderBy;
  if (perPage) rest.page_size = perPage;
  for (const [name, value] of Object.entries(rest)) {
    if (value !== undefined && value !== null && value !== "") sent.set(name, Array.isArray(value) ? value.join(",") : value);
  }
  return sent;
}

/** The body of a change: what differs from the record as it was read, and its version. */
function changes(path, body) {
  const before = read.get(path) ?? {};
  const changed = (name) => differs(body[name], before[name]) && !(body[name] === "" && before[name] == null);
  const kept = Object.keys(body).filter((name) => name === "version" || changed(name));
  return Object.fromEntries(kept.map((name) => [name, body[name] === "" ? null : body[name]]));
}

function filled(body) {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== "" && value !== undefined && value !== null));
}

function asForm(body) {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, value);
  return form;
}

function save(reply) {
  const named = /filename\*=UTF-8''([^;]+)/i.exec(reply.headers.get("Content-Disposition") ?? "");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(reply.file);
  link.download = named ? decodeURIComponent(named[1]) : "export";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The options of a picker: those that were searched for, and the one that is chosen. */
async function options(path, { chosen, ...given }) {
  const searched = await call(`${path}?${query(given)}`);
  if (!chosen || searched.code !== 0) return searched;
  const known = await call(`${path}?${query({ ids: chosen })}`);
  const ids = new Set((known.data?.items ?? []).map((one) => one.id));
  const items = [...(known.data?.items ?? []), ...searched.data.items.filter((one) => !ids.has(one.id) && !one.disabled)];
  return { ...searched, data: { ...searched.data, items } };
}

async function request(method, path, given, sent, config) {
  const data = typeof sent === "string" ? JSON.parse(sent) : sent;
  if (method === "GET" && path.startsWith("/api/v1/meta/options/")) return options(path, { ...given, ...data });
  if (method === "GET" || method === "DELETE") {
    const asked = query({ ...given, ...data }).toString();
    const reply = await call(asked ? `${path}?${asked}` : path, { method, file: config.responseType === "blob" });
    if (method === "GET" && reply.code === 0) read.set(path, reply.data);
    return reply;
  }
  if (data instanceof FormData) return call(path, { method, body: data });
  if (Object.values(data ?? {}).some((value) => value instanceof Blob)) return call(path, { method, body: asForm(data) });
  if (method === "PATCH") return change(path, { method, body: changes(path, data ?? {}) }, path, read.get(path));
  const record = path.slice(0, path.lastIndexOf("/")); // of an action
  return change(path, { method, body: filled(data ?? {}) }, record, read.get(record));
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
  const faults = reply.code === INVALID ? reply.data?.errors ?? [] : [];
  const errors = Object.fromEntries(faults.map((fault) => [fault.field, fault.message]));
  const message = reply.code === 0 ? "" : [reply.msg, ...faults.map((fault) => `${fault.field} ${fault.message}`)].join(" · ");
  // 422 is what a form shows beside its fields
  const status = reply.code === 0 ? 0 : faults.length ? 422 : reply.code ?? reply.status;
  return { status: 200, data: { status, msg: message, errors, data: reply.data ?? {} } };
}
