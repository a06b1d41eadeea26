// An import in steps: the template, the file, its check with every fault, and only then the writing.

import { call, failure, reasons } from "./session.js";
import { chooser, takeDropped } from "./uploads.js";
import { button, download, element, say } from "./words.js";

const POLL_MILLISECONDS = 1000, SHOWN = 100, FINAL = ["finished", "failed"];

const quoted = (cell) => `"${String(cell).replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;

/** Offer the faults for a spreadsheet, and the faulty rows under their header, to be corrected. */
function downloads(path, file, found, faults) {
  const list = [["row", "column", "problem"].map((word) => say(word)), ...faults.map((one) => [one.row, one.column, one.message])];
  const [name, kind] = file.name.match(/^(.*?)(?:\.(\w+))?$/).slice(1), format = kind?.toLowerCase() === "xlsx" ? "xlsx" : "csv";
  const save = (word, ending, content) => download(`${name}-${say(word)}.${ending}`, content);
  const faulty = async () => {
    const reply = await call(`${path}/imports/${found.id}/faulty-rows?format=${format}`, { file: true });
    if (reply.file) save("faultRows", format, reply.file);
  };
  return [
    button(say("faultList"), () => save("faults", "csv", new Blob(["\ufeff", list.map((row) => row.map(quoted).join(",")).join("\r\n")]))),
    ...found.failed ? [button(say("faultRows"), faulty)] : [],
  ];
}

function table(faults) {
  const cell = (tag, textContent) => element(tag, { textContent });
  const head = element("tr", {}, ...["row", "column", "problem"].map((word) => cell("th", say(word))));
  const rows = faults.slice(0, SHOWN).map((one) => element("tr", {}, cell("td", one.row), cell("td", one.column), cell("td", one.message)));
  return element("div", { className: "faults", tabIndex: 0 }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
}

/** The dialogue of an import. */
export function importer(place, properties) {
  const { path, template } = properties();
  const said = element("p", { role: "status" }), shown = element("div"), steps = element("ol", { className: "steps" });
  const step = (at) => steps.replaceChildren(...["stepFile", "stepCheck", "stepWrite"].map((word, number) => element("li", { ariaCurrent: number === at ? "step" : null, textContent: say(word) })));
  const run = async (file, dryRun) => {
    const form = new FormData();
    for (const [name, value] of [["dry_run", dryRun], ["headers", "labels"], ["file", file]]) form.append(name, value);
    shown.replaceChildren(element("progress"));
    said.textContent = say(dryRun ? "checking" : "writing");
    let reply = await call(`${path}/import`, { method: "POST", body: form });
    while (reply.code === 0 && !FINAL.includes(reply.data.status)) {
      said.textContent = say("progress", reply.data);
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
      if (!place.isConnected) return null;
      reply = await call(`${path}/imports/${reply.data.id}`);
    }
    if (reply.code === 0 && reply.data.status === "finished") return reply.data;
    said.textContent = reasons(reply.code === 0 ? failure() : reply);
    begin();
    return null;
  };
  const report = (file, found, ...more) => {
    const faults = [...found.errors, ...found.warnings];
    shown.replaceChildren(...faults.length ? [table(faults), element("div", { className: "bar" }, ...downloads(path, file, found, faults))] : [], element("div", { className: "bar" }, ...more));
  };
  const write = async (file) => {
    step(2);
    const done = await run(file, false);
    if (!done) return;
    said.textContent = say("written", done);
    report(file, done, again());
  };
  const check = async ([file]) => {
    if (!file) return;
    step(1);
    const found = await run(file, true);
    if (!found) return;
    said.textContent = say("checked", found);
    const go = button(say("writeRows", { count: found.created + found.updated }), () => write(file));
    go.className = "go";
    report(file, found, ...found.created + found.updated ? [go] : [], again());
  };
  const again = (word = "otherFile") => chooser(say(word), check, { accept: ".csv,.xlsx", multiple: false });
  const fetchTemplate = async () => {
    const { file } = await call(`${path}/template?format=xlsx&headers=labels`, { file: true });
    if (file) download("template.xlsx", file);
  };
  function begin() {
    step(0);
    shown.replaceChildren(element("div", { className: "dropzone" }, ...template ? [button(say("template"), fetchTemplate)] : [], again("chooseFile"), element("span", { textContent: say("dropFile") })));
  }
  takeDropped(place, check);
  place.replaceChildren(steps, said, shown);
  begin();
}
