// An editor for articles: what it takes over is cleaned before it is shown, as the server cleans it when it is saved.

import { chooser, upload } from "./uploads.js";
import { button, element, say } from "./words.js";

const ATTRIBUTES = { A: ["href", "title"], IMG: ["src", "alt", "title", "width", "height"], OL: ["start"], TD: ["colspan", "rowspan"], TH: ["colspan", "rowspan", "scope"] };
const KEPT = new Set(["A", "B", "BLOCKQUOTE", "BR", "CAPTION", "CODE", "DEL", "DIV", "EM", "FIGCAPTION", "FIGURE", "H1", "H2", "H3", "H4", "H5", "H6",
  "HR", "I", "IMG", "LI", "OL", "P", "PRE", "S", "SPAN", "STRONG", "SUB", "SUP", "TABLE", "TBODY", "TD", "TFOOT", "TH", "THEAD", "TR", "U", "UL"]);
const DROPPED = new Set(["SCRIPT", "STYLE", "IFRAME", "OBJECT", "EMBED", "NOSCRIPT", "TEMPLATE", "TITLE", "TEXTAREA", "SVG", "MATH"]);
const ADDRESS = /^\s*(https?:|mailto:|tel:|[^:/?#]*([/?#]|$))/i;
const IMAGES = { accept: "image/*", multiple: false };
/** What the buttons do, by their words: a command of the browser and its value. */
const COMMANDS = { bold: ["bold"], italic: ["italic"], heading: ["formatBlock", "h2"], paragraph: ["formatBlock", "p"],
  bullets: ["insertUnorderedList"], numbers: ["insertOrderedList"], quote: ["formatBlock", "blockquote"], plainText: ["removeFormat"], undo: ["undo"] };

/** Return the nodes of a text with markup, made anew from what is allowed; nothing of the text itself is used. */
function clean(html) {
  const copy = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return [document.createTextNode(node.data)];
    if (node.nodeType !== Node.ELEMENT_NODE || DROPPED.has(node.tagName.toUpperCase())) return [];
    const children = [...node.childNodes].flatMap(copy);
    if (!KEPT.has(node.tagName)) return children;
    const made = document.createElement(node.tagName);
    for (const name of ATTRIBUTES[node.tagName] ?? []) {
      const value = node.getAttribute(name);
      if (value !== null && (!["href", "src"].includes(name) || ADDRESS.test(value))) made.setAttribute(name, value);
    }
    if (node.tagName === "A" && !made.href) return children;
    made.append(...children);
    return [made];
  };
  return [...new DOMParser().parseFromString(html, "text/html").body.childNodes].flatMap(copy);
}

/** The text with markup of a record. */
export const formatted = (place) => ({ update: ({ data, name }) => place.replaceChildren(...clean(data[name] ?? "")) });

/** The control of a text with markup. */
export function richText(place, properties) {
  const area = element("div", { className: "area", contentEditable: "true", tabIndex: 0, role: "textbox", ariaMultiLine: "true", ariaLabel: properties().label });
  const said = element("small", { role: "status" });
  let shown = null;
  const changed = () => {
    shown = area.textContent.trim() || area.querySelector("img, hr") ? area.getHTML() : "";
    properties().onChange(shown);
  };
  const run = (command, value) => { area.focus(); document.execCommand(command, false, value); };
  const insert = (nodes) => {
    const selection = getSelection(), range = selection.rangeCount && area.contains(selection.anchorNode) ? selection.getRangeAt(0) : null;
    const last = nodes.at(-1);
    if (!last) return;
    range?.deleteContents();
    if (range) { const part = document.createDocumentFragment(); part.append(...nodes); range.insertNode(part); } else area.append(...nodes);
    selection.collapse(area);
    selection.setPosition(last.parentNode, [...last.parentNode.childNodes].indexOf(last) + 1);
    changed();
  };
  const picture = async ([file]) => {
    const stored = file && await upload(file, said);
    if (stored) insert([element("img", { src: stored.url, alt: file.name })]);
  };
  const link = () => {
    const address = window.prompt(say("address"));
    if (address && ADDRESS.test(address)) run("createLink", address);
  };
  const bar = element("div", { className: "bar", role: "toolbar" }, ...Object.entries(COMMANDS).map(([word, given]) => button(say(word), () => run(...given))), button(say("link"), link), chooser(say("picture"), picture, IMAGES));
  bar.addEventListener("mousedown", (event) => { if (event.target.matches("button")) event.preventDefault(); }); // the selection stays
  area.addEventListener("input", changed);
  area.addEventListener("paste", (event) => {
    const html = event.clipboardData.getData("text/html"), [file] = event.clipboardData.files;
    if (!html && !file) return;
    event.preventDefault();
    if (html) insert(clean(html));
    else picture([file]);
  });
  area.addEventListener("drop", (event) => { event.preventDefault(); picture([...event.dataTransfer.files]); });
  document.execCommand("defaultParagraphSeparator", false, "p");
  place.replaceChildren(bar, area, said);
  return {
    update({ value }) {
      if ((value ?? "") === (shown ?? "")) return;
      shown = value ?? "";
      area.replaceChildren(...clean(shown));
    },
  };
}
