// Files: chosen, dropped or taken with the camera, sent with their progress, and shown with a preview.

import { base, bearer, call, failure, reasons } from "./session.js";
import { filters } from "./values.js";
import { button, element, say } from "./words.js";

const UPLOAD = "/api/upload", ATTACHMENTS = "/api/attachments", SIGN = "/api/file/sign", MOST = 100, UNITS = ["B", "KB", "MB", "GB"];
const IMAGES = "image/*", AT_ONCE = 2;

function size(bytes) {
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1024)), UNITS.length - 1);
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${UNITS[power]}`;
}

function send(file, visibility, progress) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest(), form = new FormData(); // `fetch` does not tell how far it is
    form.append("visibility", visibility);
    form.append("file", file);
    request.open("POST", base + UPLOAD);
    request.setRequestHeader("Authorization", `Bearer ${bearer()}`);
    request.setRequestHeader("Accept-Language", document.documentElement.lang);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => progress(event.loaded / event.total));
    request.addEventListener("loadend", () => resolve({ ...failure(request.status), ...request.response }));
    request.send(form);
  });
}

/** Upload a file, and return the reply. A call before the second attempt renews an expired token. */
async function store(file, visibility, progress = () => undefined) {
  const reply = await send(file, visibility, progress);
  if (reply.status !== 401) return reply;
  await call("/api/v1/auth/profile");
  return send(file, visibility, progress);
}

/** Upload a file and return its reply, or null; `said` tells how far it is, or why not. */
export async function upload(file, said, visibility = "public") {
  const reply = await store(file, visibility, (part) => { said.textContent = `${Math.round(part * 100)} %`; });
  said.textContent = reply.code === 0 ? "" : reasons(reply);
  return reply.code === 0 ? reply.data : null;
}

/** Take the files that are dropped on a place, which `mark` shows while they are above it. */
export function takeDropped(place, take, mark = () => undefined) {
  const over = (event, is) => { event.preventDefault(); mark(is); };
  place.addEventListener("dragover", (event) => over(event, true));
  place.addEventListener("dragleave", (event) => over(event, false));
  place.addEventListener("drop", (event) => { over(event, false); take([...event.dataTransfer.files]); });
}

/** Return a button that asks for files; on a phone with `camera`, that opens it. */
export function chooser(text, take, { accept = "", multiple = true, camera = false } = {}) {
  const input = element("input", { type: "file", accept, multiple, hidden: true });
  if (camera) input.setAttribute("capture", "environment");
  input.addEventListener("change", () => { take([...input.files]); input.value = ""; });
  return element("span", { className: camera ? "camera" : "" }, button(text, () => input.click()), input);
}

/** Return a picture of a private file, once it is loaded. */
function thumbnail(key) {
  const image = element("img", { alt: "" });
  call("/api/file/dl", { query: { object_key: key }, file: true }).then(({ file }) => {
    if (!file) return;
    image.src = URL.createObjectURL(file);
    image.addEventListener("load", () => URL.revokeObjectURL(image.src));
  });
  return image;
}

async function open(key) {
  const tab = window.open("about:blank"); // before the call, so that the browser sees the click behind it
  const reply = await call(SIGN, { query: { object_key: key } });
  if (reply.code !== 0) return tab?.close();
  tab.opener = null;
  tab.location = new URL(reply.data.url, location.origin);
  return undefined;
}

/** Return the button with the name of a file, which opens it. */
function named(file) {
  const made = button(file.file_name, () => open(file.object_key));
  made.className = "name";
  return made;
}

/** Upload files and attach them to a record; `done` gets the row of each in the list, and its attachment. */
async function attachAll(files, of, list, done) {
  list.querySelector(".none")?.remove();
  const waiting = [...files];
  const add = async (file) => {
    const bar = element("progress", { max: 1, value: 0, ariaLabel: file.name }), said = element("small");
    const row = element("li", {}, element("div", {}, element("span", { textContent: file.name }), bar, said));
    list.prepend(row);
    const stored = await store(file, "private", (part) => { bar.value = part; });
    const body = { ...of, object_key: stored.data?.objectKey, file_name: stored.data?.fileName };
    const reply = stored.code === 0 ? await call(ATTACHMENTS, { method: "POST", body }) : stored;
    if (reply.code === 0) return done(row, reply.data);
    bar.remove();
    said.textContent = reasons(reply);
    said.setAttribute("role", "alert");
    return undefined;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, async () => { while (waiting.length) await add(waiting.shift()); }));
}

/** Return where files are chosen or dropped, or a photo is taken. */
function dropZone(place, take) {
  const zone = element("div", { className: "dropzone" }, chooser(say("chooseFiles"), take), chooser(say("takePhoto"), take, { accept: IMAGES, camera: true }), element("span", { textContent: say("dropFiles") }));
  takeDropped(place, take, (over) => zone.classList.toggle("over", over));
  return zone;
}

/** The files of a record: they are listed, opened, added and removed. */
export function attachments(place, properties) {
  const { biz_type: bizType, data } = properties(), of = { biz_type: bizType, resource_id: String(data.record_id) };
  const list = element("ul", { className: "files" }), status = element("p", { role: "status" });
  const entry = (file) => {
    const picture = file.content_type.startsWith("image/") ? thumbnail(file.object_key) : element("i", { textContent: file.file_name.split(".").pop().slice(0, 4).toUpperCase() });
    const about = [size(file.size), file.uploader?.name, filters.moment(file.created_at)].filter(Boolean).join(" · ");
    const remove = button(say("remove"), async () => {
      if (!window.confirm(say("removeFile", { name: file.file_name }))) return;
      const reply = await call(`${ATTACHMENTS}/${file.id}`, { method: "DELETE" });
      status.textContent = reply.code === 0 ? "" : reasons(reply);
      await load();
    });
    return element("li", {}, picture, element("div", {}, named(file), element("small", { textContent: about })), remove);
  };
  async function load() {
    const reply = await call(ATTACHMENTS, { query: { ...of, page_size: MOST } });
    if (reply.code !== 0) status.textContent = reasons(reply);
    else list.replaceChildren(...reply.data.items.map(entry), ...reply.data.items.length ? [] : [element("li", { className: "none", textContent: say("noFiles") })]);
  }
  const take = (files) => attachAll(files, of, list, (row, file) => row.replaceWith(entry(file)));
  const zone = dropZone(place, take);
  place.replaceChildren(zone, status, list);
  load();
}

/** The control of files that are attached to the record of a form; its value are the ids of those that were added here. */
export function attachedFiles(place, properties) {
  const { biz_type: bizType, data } = properties(), list = element("ul", { className: "files" });
  const of = { biz_type: bizType, resource_id: String(data.record_id ?? data.id) };
  const ids = new Set(), change = () => properties().onChange(ids.size ? [...ids] : undefined);
  const take = (files) => attachAll(files, of, list, (row, file) => {
    const remove = button(say("remove"), () => { row.remove(); ids.delete(file.id); change(); });
    row.replaceChildren(element("div", {}, named(file)), remove);
    ids.add(file.id);
    change();
  });
  place.replaceChildren(dropZone(place, take), list);
}

/** The names of stored files in a field, which open them. */
export function fileNames(place, properties) {
  return { update: ({ data, name }) => place.replaceChildren(element("ul", { className: "files" }, ...(data[name] ?? []).map((file) => element("li", {}, named(file))))) };
}

/** The control of a field with the key of a private file, which is chosen or dropped. */
function privateFile(place, properties) {
  const said = element("small", { role: "status" });
  const take = async ([file]) => {
    const stored = file && await upload(file, said, "private");
    if (!stored) return;
    said.textContent = stored.fileName;
    properties().onChange(stored.objectKey);
  };
  const zone = element("div", { className: "dropzone" }, chooser(say("chooseFile"), take, { multiple: false }), element("span", { textContent: say("dropFile") }));
  takeDropped(place, take, (over) => zone.classList.toggle("over", over));
  place.replaceChildren(zone, said);
  return { update: ({ value }) => { said.textContent = value ? said.textContent || value : ""; } };
}

/** The control of a field with a stored file: a private one, or a public one such as a picture, whose address an upload fills in. */
export function storedFile(place, properties) {
  if (properties().private) return privateFile(place, properties);
  const address = element("input", { type: "text", ariaLabel: properties().label }), image = element("img", { alt: "", hidden: true }), said = element("small", { role: "status" });
  const show = (value) => {
    if (address.value !== value) address.value = value;
    image.hidden = !value;
    const own = /^\d{8}-/.test(value) ? `${base}/api/files/public/${value}` : value;
    if (value && image.getAttribute("src") !== own) image.src = own;
  };
  image.addEventListener("error", () => { image.hidden = true; });
  address.addEventListener("input", () => properties().onChange(address.value));
  const take = async ([file]) => {
    const stored = file && await upload(file, said);
    if (stored) properties().onChange(stored.url ?? stored.objectKey);
  };
  place.replaceChildren(image, address, chooser(say("choosePicture"), take, { accept: IMAGES, multiple: false }), said);
  return { update: ({ value }) => show(value ?? "") };
}
