// Two people change one record: the later one sees the other's changes, chooses between them, and loses no input.

import { call } from "./session.js";
import { filters, isBlank } from "./values.js";
import { button, dialogue, element, say } from "./words.js";

const CHANGED = 40902, DAY_LETTERS = 10;
let forms = [];

function* formsIn(node) {
  if (node === null || typeof node !== "object") return;
  if (node.type === "form" && node.api?.url) yield { method: node.api.method, steps: node.api.url.split("?")[0].split("/"), controls: [node.body].flat() };
  for (const child of Object.values(node)) yield* formsIn(child);
}

/** Remember the forms of a page, or of a part `within` it, for their fields and the labels of these. */
export const remember = (page, within = false) => void (forms = [...within ? forms : [], ...formsIn(page)]);

/** Return a value with only what its control asks for; the record shows more. */
function onlyAsked(control, value) {
  if (!Array.isArray(control?.items) || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((one) => onlyAsked(control, one));
  const parts = control.items.map((item) => [item.name, onlyAsked(item, value[item.name])]);
  return Object.fromEntries(parts.filter(([, one]) => one !== "" && one !== null && one !== undefined));
}

export const asked = (path, name, value) => onlyAsked(controlsOf(path).find((control) => control.name === name), value);

/** Return the controls of the form that is sent to this path; a record is changed by `patch`. */
function controlsOf(path, method = "patch") {
  const steps = path.split("/");
  const fits = (form) => form.method === method && form.steps.length === steps.length && form.steps.every((step, at) => step.startsWith("${") || step === steps[at]);
  return (forms.find(fits)?.controls ?? []).flatMap((control) => (control.type === "fieldset" ? control.body : [control])).filter((control) => control.label);
}

/** Return where the form that was sent shows a fault: its control, what that is called, and the message. */
export function faultAt(path, method, { field, message }) {
  const steps = field.match(/[^.[\]]+/g) ?? [], labels = [];
  let controls = controlsOf(path, method), name = "";
  while (steps.length) {
    const number = labels.length && /^\d+$/.test(steps[0]) ? steps.shift() : null, control = controls.find((one) => one.name === steps[0]);
    if (number !== null) labels.push(say("nth", { number: Number(number) + 1 }));
    if (!control) labels.push(...steps);
    if (!control) return name && { name, label: labels.join(" "), message: labels.length > 1 ? `${labels.slice(1).join(" ")}: ${message}` : message };
    name += `${number === null ? "" : `[${number}]`}${name && "."}${steps.shift()}`;
    labels.push(control.label || control.name);
    controls = control.type === "combo" ? control.items : [];
  }
  return { name, label: labels.join(" "), message };
}

/** Return whether two values of a field differ; undefined counts as null. */
export const differs = (first, second) => JSON.stringify(first ?? null) !== JSON.stringify(second ?? null);

/** Send a change of the record at `at`, which was `before` when read; after a conflict, send it again with the person's choices. */
export async function change(path, options, at, before) {
  const reply = await call(path, options);
  if (reply.code !== CHANGED || !before || options.body.version === undefined) return reply;
  const now = await call(at);
  if (now.code !== 0) return reply;
  const edits = options.method === "PATCH" ? options.body : {};
  const picked = await choose(controlsOf(at), edits, before, now.data);
  if (picked === null) return reply;
  const dropped = Object.keys(edits).filter((name) => picked.get(name) === "theirs" || !differs(edits[name], now.data[name]));
  const body = { ...options.body, version: now.data.version };
  for (const name of dropped) if (name !== "version") delete body[name];
  const nothing = options.method === "PATCH" && Object.keys(body).length === 1;
  return nothing ? now : change(path, { ...options, body }, at, now.data);
}

/** Return the text for a value: the name of a record, the label of a choice. */
export async function describe(control, value) {
  if (isBlank(value)) return say("nothing");
  if (control.source) {
    const known = await call(`${control.source.url.split("?")[0]}?${new URLSearchParams({ ids: [value].flat().join(",") })}`);
    return known.data?.items?.map((one) => one.name).join(", ") || filters.text(value);
  }
  if (control.options) return [value].flat().map((one) => control.options.find((option) => option.value === one)?.label ?? one).join(", ");
  if (typeof value === "boolean") return say(value ? "yes" : "no");
  if (control.type === "percent") return filters.percent(value);
  if (control.ends || control.validations?.isNumeric) return [value].flat().map(filters.amount).join(", ");
  return control.type === "input-date-range" ? filters.when(value).slice(0, DAY_LETTERS) : filters.when(value);
}

async function row(control, edits, before, now) {
  const { name } = control;
  const texts = await Promise.all([before[name], now[name], edits[name]].map((value) => describe(control, value)));
  const [was, theirs, mine] = texts.map((text) => element("span", { textContent: text }));
  const pick = (value, text) => element("label", {}, element("input", { type: "radio", name, value, required: true }), text);
  const asked = name in edits && differs(edits[name], now[name]);
  return element("tr", {},
    element("th", { scope: "row", textContent: control.label }),
    element("td", {}, was),
    element("td", {}, asked ? pick("theirs", theirs) : theirs),
    element("td", {}, asked ? pick("mine", mine) : say("same")));
}

/** Ask which values to keep; returns `mine` or `theirs` by field name, or null if the person goes on editing. */
async function choose(controls, edits, before, now) {
  const changed = controls.filter(({ name }) => differs(before[name], now[name]));
  const rows = await Promise.all(changed.map((control) => row(control, edits, before, now)));
  const heads = ["field", "was", "theirs", "mine"].map((word) => element("th", { scope: "col", textContent: say(word) }));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
  const save = element("button", { type: "submit", textContent: say("save") });
  return new Promise((resolve) => {
    const finish = (given) => { dialog.close(); resolve(given); };
    const form = element("form", {}, rows.length ? table : null, save, button(say("back"), () => finish(null)));
    const dialog = dialogue("conflict", say("conflict"), form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      finish(new FormData(form));
    });
    dialog.addEventListener("cancel", () => finish(null));
  });
}
