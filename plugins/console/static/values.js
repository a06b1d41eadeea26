// How values are shown to people, in pages and in our own dialogues.

import { language } from "./words.js";

/** The filters by name, once `useZone` has said in which time zone moments are shown. */
export const filters = {
  amount: (value) => {
    const [whole, part] = String(value ?? "").split(".");
    return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? `.${part}` : "");
  },
  text: (value) => {
    if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ");
    return value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  },
};

/** Show moments in the business time zone, whatever zone the browser is in. */
export function useZone(timeZone) {
  const moments = new Intl.DateTimeFormat(language === "zh" ? "zh-CN" : "en-GB", {
    timeZone, year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hour12: false,
  });
  filters.moment = (value) => (value && !Number.isNaN(Date.parse(value)) ? moments.format(new Date(value)) : "");
  filters.when = (value) => (String(value ?? "").includes("T") ? filters.moment(value) : filters.text(value)); // or a day
}
