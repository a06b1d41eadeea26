// The menus of the person, as a list of links that works with keys and screen readers.

import { element } from "./words.js";

function entry(menu) {
  if (menu.type === "link") {
    const link = element("a", { href: menu.meta.link ?? "#", target: "_blank", rel: "noopener", textContent: menu.meta.title });
    return element("li", {}, link);
  }
  if (menu.type === "directory" || menu.children.some((child) => !child.meta.hideInMenu)) {
    const children = menu.children.filter((child) => !child.meta.hideInMenu).map(entry);
    const folded = element("details", { open: true }, element("summary", { textContent: menu.meta.title }), element("ul", {}, ...children));
    return element("li", {}, folded);
  }
  return element("li", {}, element("a", { href: `#/${menu.code}`, "data-menu": menu.code, textContent: menu.meta.title }));
}

/** The navigation of a tree of menus. */
export function navigation(menus, label) {
  const shown = menus.filter((menu) => !menu.meta.hideInMenu).map(entry);
  return element("nav", { "aria-label": label }, element("ul", {}, ...shown));
}

/** The code of the first page in a tree of menus. */
export function firstPage(menus) {
  for (const menu of menus) {
    if (menu.type === "menu" && !menu.meta.hideInMenu) return menu.code;
    const below = firstPage(menu.children);
    if (below) return below;
  }
  return null;
}

/** Mark the link of the page that is shown. */
export function mark(code) {
  for (const link of document.querySelectorAll("nav a[data-menu]")) link.ariaCurrent = link.dataset.menu === code ? "page" : null;
}
