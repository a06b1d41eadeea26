// A flow as a diagram: start, conditions, nodes, end. Each part opens a form; a trial shows what a flow did with a record.

import { describe } from "./conflict.js";
import { call } from "./session.js";
import { filters } from "./values.js";
import { language, say } from "./words.js";

const LISTS = ["in", "not_in"], MOST_QUORUM = 9, NUMBERS = ["integer", "number", "money", "quantity"];
const BY_KIND = { day: { type: "input-date", valueFormat: "YYYY-MM-DD" }, timestamp: { type: "input-datetime", valueFormat: "YYYY-MM-DDTHH:mm:ss[Z]", utc: true } };
const CHOSEN = { joinValues: false, extractValue: true }, YES_NO = [true, false].map((value) => ({ value, label: say(value ? "yes" : "no") }));
const filled = (value) => ![null, undefined, ""].includes(value) && !(Array.isArray(value) && !value.length);
const named = (items, name) => items?.find((one) => one.name === name);
const said = new Map(); // texts for values, as asking for the names of people takes a request

/** Return the text for a mode of a node: `any`, `all`, or `quorum:3`. */
const mode = (value) => (value?.startsWith("quorum:") ? say("atLeast", { count: value.slice(7) }) : say(value === "all" ? "everyone" : "anyone"));

function text(control, value) {
  const key = JSON.stringify([control.source?.url, control.options, value]);
  if (!said.has(key)) said.set(key, describe(control, value));
  return said.get(key);
}

/** Return the control for the values of a field, several for operators that take a list. */
function valueOf(field, several) {
  if (field?.ref) {
    const source = { method: "get", url: `/api/v1/meta/options/${field.ref}?q=\${term}&chosen=\${value}` };
    return { type: "select", source, autoComplete: source, labelField: "name", valueField: "id", multiple: several, ...CHOSEN };
  }
  const options = field?.kind === "boolean" ? YES_NO : field?.values;
  if (options?.length) return { type: "select", options, multiple: several, ...CHOSEN };
  if (several) return { type: "input-tag", options: [], ...CHOSEN };
  return BY_KIND[field?.kind] ?? { type: "input-text", validations: NUMBERS.includes(field?.kind) ? { isNumeric: true } : {} };
}

/** Return the form of the conditions on these fields; without fields, any can be named. */
function conditionForm({ items }, fields) {
  const operator = named(items, "op"), title = say("value");
  const parts = (field) => [
    { ...operator, options: operator.options.filter(({ value }) => !field || field.operators.includes(value)), clearable: false },
    { ...valueOf(field, false), name: "value", label: title, visibleOn: "${op && op != 'exists' && op != 'in' && op != 'not_in'}" },
    { ...valueOf(field, true), name: "value", label: title, visibleOn: "${op == 'in' || op == 'not_in'}" },
  ];
  const common = { type: "combo", name: "conditions", multiple: true, multiLine: true, mode: "normal", label: false, className: "conditions" };
  if (!fields.length) return { ...common, items: [named(items, "field"), ...parts(null)] };
  const conditions = fields.map((field) => ({ label: field.label, test: `\${field == '${field.field}'}`,
    scaffold: { field: field.field, op: field.operators.includes("gte") ? "gte" : field.operators[0] }, items: parts(field) }));
  return { ...common, conditions, addButtonText: say("addCondition"), typeSwitchable: true };
}

/** Return a condition whose value is of the form that its operator takes. */
function mended({ field, op, value }) {
  if (op === "exists") return { field, op };
  if (LISTS.includes(op)) return { field, op, value: [value].flat().filter(filled) };
  return { field, op, value: Array.isArray(value) ? value[0] : value };
}

/** Return what is stored of the people that a form names. */
const peopleOf = (value) => Object.fromEntries(Object.entries(value ?? {}).filter(([name, one]) => filled(one) && !name.endsWith("_names") && !name.endsWith("_name")));

/** Register the diagram with the renderer. */
export function registerFlow(library, { createElement, Component }) {
  class Flow extends Component {
    constructor(properties) {
      super(properties);
      this.state = { types: [], operators: [], texts: {}, form: null };
    }

    async componentDidMount() {
      const reply = await call(this.props.types).catch(() => null);
      if (!this.ended) this.setState({ types: reply?.data?.items ?? [], operators: reply?.data?.operators ?? [] });
    }

    componentDidUpdate() { this.tell(); }
    componentWillUnmount() { this.ended = true; }

    get type() { return this.state.types.find((one) => one.biz_type === this.props.data.biz_type); }
    get nodes() { return (this.props.trial ? this.props.data.nodes : this.props.value) ?? []; }

    /** Put what the parts say into words; names are asked for. */
    async tell() {
      const { data, items, parts = {}, trial } = this.props, key = JSON.stringify([data.biz_type, data.conditions, this.nodes, data.copies, data.flows, this.state.types.length]);
      if (key === this.told) return;
      this.told = key;
      const people = async (control, value) => (await Promise.all((control?.items ?? []).filter((one) => filled(value?.[one.name]))
        .map(async (one) => `${one.label}: ${await text(one, value[one.name])}`)));
      const asked = ({ name, because, on_behalf_of_name: place }) => [name, [because, place].filter(Boolean).join(" · ")].filter(Boolean).join(" – ");
      const ofNode = async (node) => (trial ? [`${mode(node.mode)}`, ...node.approvers.map(asked)] : [...await people(named(items, "approvers"), node.approvers),
        [mode(node.mode), node.on_reject === "back" && `${named(items, "on_reject").label}: ${await text(named(items, "on_reject"), "back")}`].filter(Boolean).join(" · ")]);
      const texts = {
        nodes: await Promise.all(this.nodes.map(ofNode)),
        copies: trial ? (data.copies ?? []).map(asked) : await people(parts.copies, data.copies),
        conditions: await this.conditions(data.conditions),
        flows: await Promise.all((data.flows ?? []).map(async (one) => [one.name, await this.conditions(one.failed)])),
      };
      if (!this.ended && key === this.told) this.setState({ texts });
    }

    async conditions(given) {
      const operator = { options: this.state.operators };
      return Promise.all((given ?? []).map(async ({ field, op, value }) => {
        const known = this.type?.fields.find((one) => one.field === field), numeric = known?.kind === "money" && !Array.isArray(value);
        const shown = op === "exists" ? "" : numeric ? filters.amount(value) : await text(valueOf(known, false), value);
        return `${known?.label ?? field} ${await text(operator, op)} ${shown}`.trim();
      }));
    }

    /** Open the form of a part; `done` gets what was entered. */
    open(title, body, data, done) { this.setState({ form: { title, body, data, done } }); }

    /** Open the form of a node, or of a new one before it. */
    editNode(at, isNew = false) {
      const { items, onChange } = this.props, before = isNew ? { mode: "any" } : this.nodes[at];
      const modes = [...new Set(["any", "all", ...Array.from({ length: MOST_QUORUM - 1 }, (_, place) => `quorum:${place + 2}`), before.mode])];
      const body = items.filter((one) => one.type !== "hidden").map((one) => (one.type === "quorum" ? { ...one, type: "select", options: modes.map((value) => ({ value, label: mode(value) })), ...CHOSEN } : one));
      const free = () => { for (let number = 1; ; number += 1) if (!named(this.nodes.map(({ key }) => ({ name: key })), `node-${number}`)) return `node-${number}`; };
      this.open(say("node"), body, before, (given) => {
        const node = { ...given, key: before.key ?? free(), approvers: peopleOf(given.approvers), substitutes: given.substitutes ? peopleOf(given.substitutes) : null };
        onChange(this.nodes.toSpliced(at, isNew ? 0 : 1, node));
      });
    }

    move(at, to) {
      const nodes = [...this.nodes], [moved] = nodes.splice(at, 1);
      nodes.splice(to, 0, moved);
      this.props.onChange(nodes);
    }

    /** Return a part of the diagram; with `act` it is a button. */
    card(key, className, title, lines, act, ...tools) {
      const inside = [createElement("b", { key: "title" }, title), ...(lines ?? []).map((line, place) => createElement("span", { key: place }, line))];
      const main = act ? createElement("button", { type: "button", className: "main", onClick: act }, ...inside) : createElement("div", { className: "main" }, ...inside);
      return createElement("li", { key, className }, main, tools.length ? createElement("span", { className: "tools" }, ...tools) : null);
    }

    tool(key, sign, word, act) { return act && createElement("button", { key, type: "button", title: say(word), "aria-label": say(word), onClick: act }, sign); }

    draw() {
      const { data, parts = {}, trial, onBulkChange, onChange } = this.props, { texts } = this.state, fixed = trial || this.props.fixed;
      if (trial && !data.flows) return null;
      const none = (lines, word) => (lines?.length ? lines : [say(word)]);
      const when = fixed ? null : () => this.open(say("conditions"), [conditionForm(parts.conditions, this.type?.fields ?? [])], { conditions: data.conditions ?? [] },
        (given) => onBulkChange({ conditions: (given.conditions ?? []).map(mended) }));
      const copied = fixed ? null : () => this.open(say("copied"), parts.copies.items, data.copies ?? {}, (given) => onBulkChange({ copies: peopleOf(given) }));
      const add = (at) => (fixed ? null : createElement("li", { key: `add-${at}`, className: "add" }, this.tool("add", "+", "addNode", () => this.editNode(at, true))));
      const others = trial ? (texts.flows ?? []).filter(([name, failed]) => failed.length).map(([name, failed]) => `${name}: ${say("unmet")} ${failed.join("; ")}`) : [];
      return createElement("ol", { className: "flow" },
        this.card("start", "start", trial ? `${say("submits")} – ${data.initiator_name ?? ""}` : say("submits"), [this.type?.name ?? data.biz_type].filter(Boolean)),
        trial ? this.card("applies", data.definition_id ? "when" : "when missing", data.definition_id ? data.definition_name : say("noFlow"), others)
          : this.card("when", "when", say("conditions"), none(texts.conditions, "always"), when),
        ...this.nodes.flatMap((node, at) => [add(at), this.card(node.key ?? at, `node${trial && node.approvers.length < node.needed ? " missing" : ""}`, node.name, texts.nodes?.[at], fixed ? null : () => this.editNode(at),
          ...fixed ? [] : [this.tool("up", "↑", "moveUp", at > 0 && (() => this.move(at, at - 1))), this.tool("down", "↓", "moveDown", at < this.nodes.length - 1 && (() => this.move(at, at + 1))),
            this.tool("remove", "×", "remove", () => onChange(this.nodes.toSpliced(at, 1)))].filter(Boolean))]),
        add(this.nodes.length),
        trial && !data.definition_id ? null : this.card("copies", "copies", say("copied"), none(texts.copies, "nobody"), copied),
        this.card("end", "end", say("ends")));
    }

    render() {
      const { form } = this.state, close = () => this.setState({ form: null });
      const dialog = form && this.props.render("modal", { type: "dialog", title: form.title, size: "lg", closeOnEsc: true,
        body: { type: "form", mode: "horizontal", canAccessSuperData: false, inheritData: false, body: form.body } },
      { show: true, data: form.data, formStore: undefined, onClose: close, onConfirm: ([given]) => { form.done(given); close(); } });
      return createElement("div", { className: "part", lang: language }, this.draw(), dialog);
    }
  }

  library.FormItem({ type: "flow", strictMode: false, sizeMutable: false })(Flow);
}
