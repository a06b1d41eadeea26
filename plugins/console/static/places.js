// Where things are in the console: menus and records by the paths that links name, and what this person keeps of them.

import { isStep } from "./paths.js";
import { say } from "./words.js";

export const HOME = "#/home";
const MOST_RECENT = 8;
const records = new Map(), menuOf = new Map(); // lists by the paths that name them, and their menus
/** The menus that lead to pages, by the addresses of these. */
export const pages = new Map();
let key = "";
/** What the person keeps in this browser: pages they opened or starred, and how the menu is folded. */
export const kept = { recent: [], starred: [], open: {}, folded: false };

function* leaves(menus, group = "") {
  for (const menu of menus.filter((one) => !one.meta.hideInMenu)) {
    const { title, icon } = menu.meta, inside = menu.children.filter((one) => !one.meta.hideInMenu);
    if (inside.length) yield* leaves(inside, title);
    else if (menu.type === "menu") yield { code: menu.code, title, icon, path: menu.path, group };
  }
}

/** Learn the menus and lists of this person, and read what they keep. */
export function learn(user, menus, lists) {
  pages.set(HOME, { code: "home", title: say("home"), icon: "house", path: "/", group: "" });
  for (const one of leaves(menus)) pages.set(`#/${one.code}`, one);
  for (const { name, menu, paths } of lists) {
    menuOf.set(name, menu);
    for (const path of paths) records.set(path, name);
  }
  key = `tradewind.pages.${user}`;
  Object.assign(kept, JSON.parse(localStorage.getItem(key) ?? "{}"));
}

export function keep(changed) { localStorage.setItem(key, JSON.stringify(Object.assign(kept, changed))); }

/** Return the address in the console of what a link or a path of the API names, or null if it shows no such thing. */
export function placeOf(link) {
  const path = (link ?? "").replace(/^\/api(\/v\d+)?(?=\/)/, ""), end = path.lastIndexOf("/");
  const [list, id] = [records.get(path.slice(0, end)), path.slice(end + 1)];
  if (list && isStep(id)) return `#/records/${list}/${id}`;
  return [...pages].find(([, one]) => one.path === path)?.[0] ?? null;
}

/** Return the menu to which an address belongs: its own, or that of a record's list. */
export function menuAt(at) {
  const [, first, list] = at.split("/");
  return pages.get(first === "records" ? `#/${menuOf.get(list)}` : at);
}

/** Return the title of a page: its menu's, or else the one by which it is known. */
export const titleOf = ({ at, title }) => pages.get(at)?.title ?? title;

/** Remember that a page was opened, under its title. */
export function visit(at, title) {
  const renamed = kept.starred.map((one) => (one.at === at ? { at, title } : one));
  keep({ recent: [{ at, title }, ...kept.recent.filter((one) => one.at !== at && one.at !== HOME)].slice(0, MOST_RECENT), starred: renamed });
}

export const isStarred = (at) => kept.starred.some((one) => one.at === at);

export function star(at, title) {
  keep({ starred: isStarred(at) ? kept.starred.filter((one) => one.at !== at) : [...kept.starred, { at, title }] });
}
