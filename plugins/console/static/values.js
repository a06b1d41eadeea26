// How values are shown to people, in pages and in the shell's own dialogues.

import { say } from "./words.js";

const NOTHING = "-", MOST = 40; // the renderer's sign for an empty value; the number of items shown of a long list

/** The filters by name; `useZone` adds those that show moments. */
export const filters = {
  amount: (value) => {
    if (value === null || value === undefined || value === "") return NOTHING;
    const [whole, part] = String(value).split(".");
    return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? `.${part}` : "");
  },
  percent: (value) => (filters.amount(value) === NOTHING ? NOTHING : `${percentOf(value)} %`),
  total: (rows, name) => { // exact, also of more digits than a number has
    const values = (rows ?? []).map((one) => String(one[name] ?? "0")), digits = Math.max(0, ...values.map((one) => one.split(".")[1]?.length ?? 0));
    const sum = values.reduce((all, one) => { const [whole, part = ""] = one.split("."); return all + BigInt(whole + part.padEnd(digits, "0")); }, 0n);
    const shown = String(sum < 0n ? -sum : sum).padStart(digits + 1, "0"), point = shown.length - digits;
    return (sum < 0n ? "-" : "") + filters.amount(digits ? `${shown.slice(0, point)}.${shown.slice(point)}` : shown);
  },
  change: ([now, before]) => { // of a figure since the period before: in percent, or as it is where there was nothing
    if (before === null || before === undefined) return "";
    const more = now - before, sign = more > 0 ? "+" : more < 0 ? "−" : "±";
    return sign + (Number(before) ? `${Math.abs(100 * more / before).toFixed(1)} %` : filters.amount(Math.abs(more)));
  },
  open: (lines, done, ...names) => (lines ?? []).filter((line) => !line.completed).map((line) => ({ // what is left of lines of which a part is done
    ...Object.fromEntries(names.map((name) => [name, line[name]])),
    quantity: String(Number((line.quantity - (line[done] ?? 0)).toFixed(4))),
  })).filter(({ quantity }) => quantity > 0),
  only: (lines, ...names) => (lines ?? []).map((line) => Object.fromEntries(names.filter((name) => !isBlank(line[name])).map((name) => [name, line[name]]))), // what a form asks for
  choices: (labels) => Object.entries(labels ?? {}).map(([value, label]) => ({ value, label })),
  schema: (value) => ({ ...value, type: [value?.type].flat()[0] }), // the type of a value that may be null is a list
  text: (value, words = {}) => { // `words` are those for the names in an object
    if (Array.isArray(value) && value.every((one) => typeof one !== "object")) {
      return value.slice(0, MOST).join(", ") + (value.length > MOST ? ` … (${value.length})` : "") || NOTHING;
    }
    if (value === null || value === undefined || value === "") return NOTHING;
    if (typeof value === "boolean") return say(value ? "yes" : "no");
    return typeof value === "object" ? Object.entries(value).map(([name, one]) => `${words[name] ?? name}: ${filters.text(one)}`).join("\n") || NOTHING : String(value);
  },
};

/** Return the value at a path of names, such as `record.name`. */
export const valueAt = (data, path) => path.split(".").reduce((inside, step) => inside?.[step], data);

/** Return whether nothing was entered: an empty text or list, or no value. */
export const isBlank = (value) => ["", null, undefined].includes(value) || (Array.isArray(value) && !value.length);

/** Return the value of a column as a list shows it. */
export function textOf({ name, map, tpl }, record) {
  const value = valueAt(record, name);
  if (map && map[value] !== undefined) return map[value].tpl ?? map[value];
  return (filters[/\| (\w+)/.exec(tpl)?.[1]] ?? filters.text)(value, map);
}

/** The values of an object by the words for their names. */
export const namedValues = (place) => ({ update: (given) => { place.textContent = textOf(given, given.data); } });

export const isNumber = (value) => /^-?\d+(\.\d+)?$/.test(value ?? "");

/** Return a part of a whole as the number of percent that people type, and the part that they mean by it; other texts stay. */
export const percentOf = (part) => (isNumber(part) ? String(Number((100 * part).toFixed(6))) : part ?? "");
export const partOf = (percent) => (isNumber(percent.trim()) ? String(Number((percent / 100).toFixed(6))) : percent);

/** Return what a template has given with its markup as text: neither a page nor a value makes elements. */
export const asText = (given) => String(given ?? "").replaceAll("<", "&lt;");

/** Add filters that show moments in the business time zone, whatever zone the browser is in. */
export function useZone(timeZone) {
  const moments = new Intl.DateTimeFormat("sv-SE", {
    timeZone, year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit",
  }); // 2026-11-05 09:30
  filters.moment = (value) => (value && !Number.isNaN(Date.parse(value)) ? moments.format(new Date(value)) : NOTHING);
  filters.when = (value) => (/^\d{4}-\d\d-\d\dT/.test(value) ? filters.moment(value) : filters.text(value)); // anything else is a plain value, such as a day
}
